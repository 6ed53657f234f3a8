"""How right the pipeline is, where the truth is known: verdicts, failure nodes, links and earliest associations."""
