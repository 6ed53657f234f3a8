"""The papers and books that the formulas are from, in full, by the short form in which they are cited."""

from __future__ import annotations

REFERENCES = {
    "Angelopoulos et al. (2023)": "Angelopoulos, A. N., Bates, S., Fannjiang, C., Jordan, M. I. & Zrnic, T. "
    "(2023). Prediction-powered inference. Science 382, 669-674.",
    "Angelopoulos, Duchi & Zrnic (2023)": "Angelopoulos, A. N., Duchi, J. C. & Zrnic, T. (2023). PPI++: efficient "
    "prediction-powered inference. arXiv:2311.01453.",
    "Bhapkar (1966)": "Bhapkar, V. P. (1966). A note on the equivalence of two test criteria for hypotheses in "
    "categorical data. Journal of the American Statistical Association 61, 228-235.",
    "Bland & Altman (1986)": "Bland, J. M. & Altman, D. G. (1986). Statistical methods for assessing agreement "
    "between two methods of clinical measurement. The Lancet 327, 307-310.",
    "Bowker (1948)": "Bowker, A. H. (1948). A test for symmetry in contingency tables. Journal of the American "
    "Statistical Association 43, 572-574.",
    "Brennan & Prediger (1981)": "Brennan, R. L. & Prediger, D. J. (1981). Coefficient kappa: some uses, misuses, "
    "and alternatives. Educational and Psychological Measurement 41, 687-699.",
    "Brodersen et al. (2010)": "Brodersen, K. H., Ong, C. S., Stephan, K. E. & Buhmann, J. M. (2010). The balanced "
    "accuracy and its posterior distribution. International Conference on Pattern Recognition, 3121-3124.",
    "Byrt, Bishop & Carlin (1993)": "Byrt, T., Bishop, J. & Carlin, J. B. (1993). Bias, prevalence and kappa. "
    "Journal of Clinical Epidemiology 46, 423-429.",
    "Clopper & Pearson (1934)": "Clopper, C. J. & Pearson, E. S. (1934). The use of confidence or fiducial limits "
    "illustrated in the case of the binomial. Biometrika 26, 404-413.",
    "Cohen (1960)": "Cohen, J. (1960). A coefficient of agreement for nominal scales. Educational and "
    "Psychological Measurement 20, 37-46.",
    "Cohen (1968)": "Cohen, J. (1968). Weighted kappa: nominal scale agreement with provision for scaled "
    "disagreement or partial credit. Psychological Bulletin 70, 213-220.",
    "Davison & Hinkley (1997)": "Davison, A. C. & Hinkley, D. V. (1997). Bootstrap Methods and Their Application. "
    "Cambridge University Press.",
    "Dean & Pagano (2015)": "Dean, N. & Pagano, M. (2015). Evaluating confidence interval methods for binomial "
    "proportions in clustered surveys. Journal of Survey Statistics and Methodology 3, 484-503.",
    "Efron (1987)": "Efron, B. (1987). Better bootstrap confidence intervals. Journal of the American Statistical "
    "Association 82, 171-185.",
    "Field & Welsh (2007)": "Field, C. A. & Welsh, A. H. (2007). Bootstrapping clustered data. Journal of the "
    "Royal Statistical Society B 69, 369-390.",
    "Fleiss, Cohen & Everitt (1969)": "Fleiss, J. L., Cohen, J. & Everitt, B. S. (1969). Large sample standard "
    "errors of kappa and weighted kappa. Psychological Bulletin 72, 323-327.",
    "Gorodkin (2004)": "Gorodkin, J. (2004). Comparing two K-category assignments by a K-category correlation "
    "coefficient. Computational Biology and Chemistry 28, 367-374.",
    "Gwet (2008)": "Gwet, K. L. (2008). Computing inter-rater reliability and its variance in the presence of high "
    "agreement. British Journal of Mathematical and Statistical Psychology 61, 29-48.",
    "Holm (1979)": "Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal "
    "of Statistics 6, 65-70.",
    "Holt & Smith (1979)": "Holt, D. & Smith, T. M. F. (1979). Post stratification. Journal of the Royal "
    "Statistical Society A 142, 33-46.",
    "Kendall (1945)": "Kendall, M. G. (1945). The treatment of ties in ranking problems. Biometrika 33, 239-251.",
    "Korn & Graubard (1998)": "Korn, E. L. & Graubard, B. I. (1998). Confidence intervals for proportions with "
    "small expected number of positive counts estimated from survey data. Survey Methodology 24, 193-201.",
    "Krippendorff (2004)": "Krippendorff, K. (2004). Content Analysis: An Introduction to Its Methodology, second "
    "edition. Sage.",
    "Maxwell (1970)": "Maxwell, A. E. (1970). Comparing the classification of subjects by two independent judges. "
    "British Journal of Psychiatry 116, 651-655.",
    "Mogstad et al. (2024)": "Mogstad, M., Romano, J. P., Shaikh, A. M. & Wilhelm, D. (2024). Inference for ranks "
    "with applications to mobility across neighbourhoods and academic achievement across countries. Review of "
    "Economic Studies 91, 476-518.",
    "Rogan & Gladen (1978)": "Rogan, W. J. & Gladen, B. (1978). Estimating prevalence from the results of a "
    "screening test. American Journal of Epidemiology 107, 71-76.",
    "Sarndal, Swensson & Wretman (1992)": "Särndal, C.-E., Swensson, B. & Wretman, J. (1992). Model Assisted "
    "Survey Sampling. Springer.",
    "Scott (1955)": "Scott, W. A. (1955). Reliability of content analysis: the case of nominal scale coding. "
    "Public Opinion Quarterly 19, 321-325.",
    "Shrout & Fleiss (1979)": "Shrout, P. E. & Fleiss, J. L. (1979). Intraclass correlations: uses in assessing "
    "rater reliability. Psychological Bulletin 86, 420-428.",
    "Sokolova & Lapalme (2009)": "Sokolova, M. & Lapalme, G. (2009). A systematic analysis of performance measures "
    "for classification tasks. Information Processing & Management 45, 427-437.",
    "Spearman (1904)": "Spearman, C. (1904). The proof and measurement of association between two things. American "
    "Journal of Psychology 15, 72-101.",
    "Stuart (1955)": "Stuart, A. (1955). A test for homogeneity of the marginal distributions in a two-way "
    "classification. Biometrika 42, 412-416.",
    "Student (1908)": "Student (1908). The probable error of a mean. Biometrika 6, 1-25.",
    "Tukey (1958)": "Tukey, J. W. (1958). Bias and confidence in not quite large samples (abstract). Annals of "
    "Mathematical Statistics 29, 614.",
    "Wilson (1927)": "Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference. "
    "Journal of the American Statistical Association 22, 209-212.",
}
"""Cited as in the keys; each with its authors, year, title and where it appeared."""
