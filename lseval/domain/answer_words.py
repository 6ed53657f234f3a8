"""The words by which agents title and introduce the parts of an answer, in the languages that they answer in.

Each constant is a regular expression of alternatives. Those that belong to one language family stand together.
"""

from __future__ import annotations

import re


def _any_of(words: str) -> str:
    return "(?:" + "|".join(re.split(r"\s+\|\s+", words.strip())) + ")"


REFERENCE_NOUN = _any_of(
    r"""
    sources? | references? | bibliography | works? cited | citations? | footnotes? | endnotes? | literature
    | further reading | quellen | quellenverzeichnis | literatur | literaturverzeichnis | références
    | bibliographie | fuentes | referencias | bibliografía | fonti | riferimenti | bibliografia | fontes
    | referências | bronnen | источники | литература | 출처 | 참고\s?문헌 | 참고\s?자료 | المصادر | المراجع
    """
)
REFERENCE_QUALIFIER = _any_of(
    r"""
    key | main | primary | selected | cited | official | all | complete | full | list of | data | information
    | web | online | supporting | core | major | original | used | numbered
    """
)
REFERENCE_HAN = _any_of(
    r"""
    来源 | 來源 | 参考 | 參考 | 参考文献 | 參考文獻 | 文献 | 文獻 | 参考资料 | 參考資料 | 参考链接 | 引用
    | 引用文献 | 引文 | 出处 | 出典 | 参考書目 | 参考书目 | 情報源 | 链接 | 連結 | 网址
    """
)
REFERENCE_HAN_QUALIFIER = _any_of(
    r"""
    主要 | 核心 | 重要 | 关键 | 部分 | 全部 | 权威 | 附录 | 数据 | 資料 | 资料 | 信息 | 資訊 | 本文 | 报告
    | 相关 | 参考 | 參考 | 引用 | 所引 | 原始
    """
)
REFERENCE_HAN_SECOND = _any_of(r"来源 | 文献 | 资料 | 链接 | 引用 | 说明")

FRAME = _any_of(
    r"""
    introduction | intro | overview | background | preface | foreword | abstract | executive summary | summary
    | tl;?dr | (?:key )?takeaways? | conclusions? | concluding remarks
    | (?:final|closing) (?:remarks|thoughts|notes?) | synthesis | in summary | in conclusion | outlook
    | (?:table of )?contents | outline | scope | about this report | disclaimer | notes? | caveats?
    | limitations? | methodology | methods? | search (?:process|strategy|methodology) | how i searched
    | research process | next steps? | acknowledge?ments? | appendix | appendices | verification(?: notes?)?
    | confidence | assumptions | einleitung | überblick | zusammenfassung | fazit | résumé | introducción
    | resumen | conclusión | conclusiones | introdução | conclusão | resumo | введение | заключение | выводы?
    | 서론 | 개요 | 결론 | 요약
    """
)
FRAME_SECOND = _any_of(
    r"""
    context | background | scope | overview | (?:future |market )?outlook | recommendations | caveats | notes
    | limitations | next steps | methodology | implications | summary | conclusions? | future directions
    """
)
FRAME_HAN = _any_of(
    r"""
    引言 | 前言 | 导言 | 導言 | 绪论 | 序言 | 概述 | 概览 | 綜述 | 综述 | 摘要 | 执行摘要 | 背景 | 背景介绍
    | 研究背景 | 目录 | 提要 | 导读 | 结论 | 結論 | 总结 | 總結 | 小结 | 小結 | 结语 | 結語 | 结束语 | 后记
    | 展望 | 总体结论 | 最终结论 | 主要结论 | 总览 | 概要 | 序論 | まとめ | はじめに | おわりに | 说明 | 說明
    | 备注 | 備註 | 注意事项 | 注释 | 免责声明 | 声明 | 附录 | 附錄 | 研究方法 | 方法说明 | 检索说明 | 局限性
    | 验证
    """
)
FRAME_HAN_SECOND = _any_of(
    r"""
    背景 | 概述 | 展望 | 建议 | 启示 | 趋势展望 | 前瞻 | 未来展望 | 方法说明 | 说明 | 总结 | 结论 | 推荐
    | 目的 | 落地建议 | 政策建议 | 应用建议 | 参考建议 | 前景展望 | 总体评述 | 意义 | 备注
    """
)
FRAME_BEFORE_TOPIC = _any_of("introduction | conclusions? | 引言 | 前言 | 结论 | 結論 | 总结 | 總結")

SUPPORT = _any_of(
    r"""
    verif\w* | confirm\w* | evidence
    | key (?:details?|facts?|points?|information|criteria|highlights|reasons?) | details? | reason(?:s|ing)?
    | explanations? | justifications? | rationale | clues? | criteria
    | support(?:ing)?(?: evidence| facts| details)? | notes? | caveats? | limitations? | assumptions? | steps?
    | analysis | process | methodology | search strategy | additional (?:information|details|context|notes)
    | context | background | why | how this (?:matches|fits) | cross-check\w* | summary | takeaways?
    | sources? (?:verified|checked|consulted)
    """
)
SUPPORT_HAN = _any_of(
    r"""
    验证 | 核实 | 依据 | 证据 | 佐证 | 理由 | 原因 | 解释 | 说明 | 备注 | 注意 | 注 | 关键信息 | 关键点 | 详情
    | 补充 | 推理 | 分析 | 线索 | 条件 | 步骤 | 总结 | 过程 | 背景 | 核对
    """
)
ENUMERATES = _any_of(
    r"""
    following | here (?:are|is) | these | below | as follows | list(?:ed)? | top \d+ | are | include[sd]?
    | several | various | a number of | (?:two|three|four|five|six|seven|eight|nine|ten|\d{1,2})\s+\w+
    """
)
ENUMERATES_HAN = _any_of(
    r"""
    以下 | 如下 | 下列 | 分别 | 有： | 包括 | 列表 | 清单
    | [二两三四五六七八九十\d]\s?(?:个|家|部|项|种|名|位|篇|座|款|条|本|所|大)
    """
)

NAMING_KEY = _any_of(
    r"""
    name | title | item | answer | entity | full name | paper | film | movie | book | product | company | 名称
    | 名字 | 姓名 | 标题 | 題目 | 题目 | 答案 | 项目
    """
)
SOURCE_KEY = _any_of(
    r"""
    (?:(?:primary|official|supporting|cited)\s)?(?:sources?|urls?|links?|references?|citations?|evidence)
    | source urls? | source links? | web\s?site | homepage | web\s?page | 来源 | 來源 | 信息来源 | 数据来源
    | 出处 | 链接 | 鏈接 | 网址 | 網址 | 参考 | 官网 | 引用
    """
)
FIELD_HEADER = _any_of(
    r"""
    fields? | attributes? | property | properties | aspects? | details? | key | parameters? | 字段 | 属性
    | 項目 | 项目 | 指标 | 维度 | 内容
    """
)
INDEX_HEADER = _any_of(
    r"""
    \# | no\.? | nr\.? | n[°º]\.? | № | num(?:ber|\.)? | s/n | s(?:r|l|er)?\.?\s?no\.? | serial\s(?:no\.?|number)
    | (?:item|row|entry)\s(?:no\.?|number|\#) | row | item | entry | rank(?:ing)? | index | id
    | 序号 | 编号 | 排名 | 名次 | 番号
    """
)
"""The header of a column that only numbers the rows."""
