"""The words that sentences about outputs are made of, by what they do there. Hook path."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What is written.
OUTPUTS = _words("""output outputs finding findings result results report analysis verdict review
    answer summary assessment research conclusion conclusions deliverable everything""")
ALL = _words("it them all what whatever yours everything anything this")
ALONE = _words("output outputs deliverable findings result results")  # labels of one word
OURS = _words("output outputs deliverable your write save")
NOT_OURS = _words("""format schema style spec template input inputs previous prior earlier last old
    existing example other others reference read source their his her""")

# Who writes, and whether.
WRITES = _words("""write overwrite save store persist output record emit dump deliver submit export
    report writing saving storing persisting recording""")
GERUNDS = _words("writing saving storing persisting recording")
PUTS = _words("put place leave create produce generate")  # their object may be the work itself
MAKES = _words("write create overwrite produce save")
BE_WRITTEN = _words("written saved stored persisted placed recorded delivered produced")
GOES = _words("go goes belong belongs")
OTHER_VERBS = _words("""
    read reading reads reviewing see seeing check checking use using uses follow compare
    compares comparing consult load open look looking examine inspect cite refer refers
    summarise summarize extract edit editing update updating fix fixing modify add adding append
    appending rename renames move moves copy copies delete remove commit push writes wrote saves
    saved written stored persisted stores puts produces creates created outputs reports made was
    were
""")
NEVER = _words("""not don't dont never avoid without instead nor cannot can't mustn't shouldn't
    won't no neither refrain refuse decline forbidden prohibited nobody before than stop""")
YET = _words("forget fail until unless hesitate neglect just only skip")
NOTHING = _words("nothing no not never none")
DOUBTS = _words("""example e.g instance imagine optionally optional whether why asked would
    suppose says said tomorrow later yesterday given
    possible needed necessary approved approval""")
IF = _words("if unless")
NEEDED = _words("if unless asked needed necessary possible")
FINISHED = _words("you your done finished finish complete completed ready everything all")

# What may stand between the beginning of a clause and the verb that is said to the agent.
POLITE = _words("""please pls always also now finally first next last lastly then so therefore thus
    just only at the end must directly immediately simply once when after before as soon you are
    done ready finished finish finishing stopping complete completed final action
    step""")
YOU = _words("you yourself")
MAYBE = _words("may might could can feel need were was had")
TOLD = (
    *(("make", "sure", "to"), ("be", "sure", "to"), ("remember", "to")),
    *(("not", "forget", "to"), ("don't", "forget", "to"), ("tool", "to"), ("by",)),
    *(("job", "is", "to"), ("task", "is", "to"), ("action", "is", "to"), ("step", "is", "to")),
)
AGENT = _words("agent subagent sub-agent reviewer researcher analyst expert")
EACH = _words("the this each every")
MUST = _words("must shall should")
MUST_BE = _words("must shall should to sure ensure")
# What may stand before a colon and an order behind it; and what a label of the output is made of.
OPENS = (
    POLITE
    | OUTPUTS
    | YOU
    | _words("""for important note mandatory required retry reminder
    persistence instructions task your""")
)
LABELS = OUTPUTS | _words("""outputfile outputs deliverables file path your the complete final full
    name location target destination must write save here document markdown md for this a of""")
LEADERS = _words("lead orchestrator command user person agent agents tool main others parent")
ABOUT = (
    LEADERS
    | NEVER
    | NOT_OURS
    | _words("""audit explain criticise criticize comment
    describe""")
)
ELSEWHERE = _words("how whether why agents lead they others")

# What ties a path to its sentence.
AND, OR = _words("and & plus + then but"), _words("or")
TO = _words("to into in at as under")
ARTICLES = _words("the a an your its this that one complete full final whole entire own")
FILLERS = _words("""the a an this that exact exactly file files path absolute relative following
    output new markdown named called own your session's session also both""")
BETWEEN = AND | OUTPUTS | FILLERS | _words("to into in as well its with risks notes")
TO_NO_FILE = _words("""according similar compared compares comparable relative respect refer refers
    reference references related due next adhere link links linked apply applies conform addition
    response change changes edit edits update updates path pointer access close contrary prior
    corresponding equal up back answer answers reply replies comment comments objection question""")
IN_NO_FILE = _words("found shown given seen is are such same like defined as")
DASHES = frozenset({"-", "\u2013", "—"})
AT_LAST = _words("finish finished done end stop return complete")
