"""The words that sentences about outputs are made of, by what they do there. Hook path."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What is written.
OUTPUTS = _words("""output outputs finding findings result results report analysis verdict review
    answer summary assessment research conclusion conclusions deliverable everything
    view views opinion judgement judgment critique feedback questions""")
ALL = _words("it them all what whatever yours everything anything this")
ALONE = _words("output outputs deliverable findings result results")  # labels of one word
OURS = _words("output outputs deliverable your write save")
NOT_OURS = _words("""format schema style spec template input inputs previous prior earlier last old
    existing example other others reference read source their his her""")

# Who writes, and whether.
WRITES = _words("""write overwrite save store persist output record emit dump deliver submit export
    report document draft note log capture publish writing saving storing persisting recording
    documenting""")
NOUNS = _words("record document draft note log capture")  # as often as verbs
GERUNDS = _words("writing saving storing persisting recording documenting")
PUTS = _words("put place leave create produce generate")  # their object may be the work itself
TURNS = _words("merge combine compile consolidate collect gather condense distil translate")
LEAVES = _words("write save store persist produce create generate deliver put")  # before a list
FILES = _words("file path filename location destination")
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
ALSO_NOUNS = _words("open look check use fix edit update load extract cut")
NEVER = _words("""not don't dont never avoid without instead nor cannot can't mustn't shouldn't
    won't no neither refrain refuse decline forbidden prohibited nobody before than stop""")
FORBIDS = _words("""not don't dont never avoid cannot can't mustn't shouldn't neither refrain""")
ASIDES = _words("under in at on even for by ever please whatever - \u2013 —")
YET = _words("forget fail until unless hesitate neglect just only skip")
NOTHING = _words("nothing no not never none")
# What begins a condition, a case or a time; and the agent's own end, which is none.
CONDITIONS = _words("""if unless when whenever where wherever once after before until till while
    should in on upon for per with without provided providing assuming supposing had were depending
    whether given except besides""")
CASES = _words("""case event cases failure failures error errors success condition conditions doubt
    each every any time request demand provided assumption bug issue problem consent permission
    approval agreement go-ahead""")
ENDING = _words("""done finished finish finishing complete completed completing ready stop stopping
    end ending return returning exit exiting through reading read reviewing reply replying answer
    answering everything all""")
BUT = _words("but instead")
OLD = _words("was were is isn't has had would used")
# What says that the words behind a colon are somebody else's, or no longer true; and what leads
# to orders.
THEIRS = _words("""told wrong bad don't dont previously previous old older formerly out anti
    antipattern forbidden tell asks says said quote quoted quotation wrote prompt prompts
    were was gave skip ignore deprecated dropped cancelled obsolete void superseded removed
    audit compare translate judge discuss consider fix find bug""")
# Behind these, a whole prompt follows, of which nobody knows where it ends.
TOLD_AT_LENGTH = _words("told prompt prompts were was gave transcript wrote said says")
LEADS_IN = _words("""do follow following include instruction rules rule steps tasks workflow work
    process procedure protocol guidelines guideline constraints constraint requirements requirement
    deliver deliverables deliverable job goal goals assignment mission checklist action actions must
    todo persist saving write save brief your yours notes outputs""")
DOUBTS = _words("""example e.g instance imagine optionally optional whether why asked would
    suppose says said tomorrow later yesterday given ideally preferably either
    possible needed necessary approved approval""")

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
EXPECTS = _words("expect expects lets allows wants asks makes causes")
AGENT = _words("agent subagent sub-agent")
THIS = _words("the this")
MUST = _words("must shall should")
BETWEEN_YOU = POLITE | MUST | _words("have need needs to will are required expected asked not do")
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
OPENS_ANEW = _words("ok okay over edit update correction retry redo restart again fyi nb ps")
FOR_OTHERS = _words("me myself us him her them")
LEADERS = _words("lead orchestrator command user person agent agents tool main others parent")
ABOUT = (
    LEADERS
    | NEVER
    | NOT_OURS
    | _words("""audit explain criticise criticize comment
    describe""")
)
ELSEWHERE = _words("how whether why agents lead they others")

# An order that stands alone on its line, without a full stop; and what makes it go on below.
LOOKS = _words("""look check find review read analyse analyze audit inspect examine search verify
    investigate scan list research map trace go""")
REWORDS = _words("rate improve translate rewrite reword rephrase shorten simplify proofread judge")
ORDERS = _words("instruction sentence prompt wording phrase text line paragraph order")
TIES = _words("""that whether if how why who which where when what and or then to but agent agents
    they subagents reviewers tools scripts hooks everyone people code""")

# What ties a path to its sentence.
AND = _words("and & plus + then but")
OR = _words("or / and/or | alternatively otherwise resp")
# Behind an `or`: that the file is left to the agent, and not what becomes of it otherwise.
INSTEAD = _words("""reply answer respond say tell post return chat print paste send just simply skip
    nothing wherever anywhere somewhere any another similar not leave elsewhere""")
AS_IT_LIKES = ("whichever", "as you like", "as you prefer", "up to you", "your call", "your choice")
TO = _words("to into in at as under")
WITHIN = _words("in at under")
# What is in a file, not into it.
SAYS = _words("report output submit export emit deliver dump")
THERE = _words("""of what that which to from about on is are missing wrong in as under heading
    section table row""")
# Behind these, the object of a verb says where it points, not what is written.
ASIDE = _words("that which from is are missing wrong as under heading section points row in")
WRITES_ANEW = _words("write writing record recording overwrite create")
THOSE = _words("the these those all every any each everything")
FOR_ELSEWHERE = _words("to into as on onto via using for from is in that which through against")
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

# What tells that the closing line is only spoken of.
SPOKEN_OF = _words("""whether why verify check checks does did do how who if skip ignore missing
    lacks lack strip drop remove says said was were without added example find explain
    otherwise else""")
SAYING = _words("say says said saying tell tells told prompt prompts")

# What an order of the closing line is made of: its verbs, what stands before them, whose line.
CLOSES_IT = _words("""end finish close terminate conclude add append put seal sign wrap round""")
IT_CLOSES = _words("ends finishes closes terminates concludes")
CLOSING = _words("ending finishing closing terminating concluding adding appending putting")
CLOSED_BY = _words("terminated ended closed finished concluded followed")
CLOSES = CLOSES_IT | IT_CLOSES | CLOSING | CLOSED_BY
PLACES = _words("put add append place include insert have leave keep print type emit")
MUST_CLOSE = _words("must shall should be to has have needs need read exactly")
BEFORE_CLOSING = _words("""and then must shall should please pls always finally also lastly just but
    so you""")
BEFORE_TO = _words("has have needs need sure remember forget required ought is are want")
ITSELF = _words("itself themselves also both each all always then finally")
CLOSED = _words("""it file files that which one document report review they each both all
    output outputs deliverable and""")
SEES_TO_IT = _words("sure ensure")
ASKED = _words("why whether")
NOT_TO_CLOSE = _words("without before stop than avoid skip")
LAST = _words("last final closing ending end")
AT_THE_END = _words("last final closing end bottom")
MARKS = _words("sentinel marker")
IS = _words("is are reads will being stays")
EVERY_ONE = _words("both each all every these those")
EVERY = EVERY_ONE | _words("them they their")
OF_EVERY = (
    MUST_CLOSE
    | CLOSES
    | _words("""file files of one two three four document documents outputs
    them with by on at own last final closing in file's itself themselves is are""")
    | {""}
)
OWN = _words("file files own final complete full")
OF_ONE = _words("it its file file's")
_OF_THE_FILE = _words("""it its that which this your their them each both these those file files
    output outputs report review document result results deliverable file's files' document's
    report's output's very""")
IN_A_REPLY = _words("reply response answer message chat text")
REPLIES = _words("reply response answer message chat reply's response's answer's message's")
COUNTS = _words("count counts valid accepted done finished complete")  # `only counts if …`
BEFORE_THE_LINE = _words("""if forget mind pls please thx thanks but so that remember note
    sure unless until because with whose where ensure""")

OWNERS = ARTICLES | _OF_THE_FILE | _words("exact exactly html comment string and with of")
NAMING = OWNERS | MARKS | MUST_CLOSE | IS | _words("string line")

# In a heading: what follows is no more. In a line above a fence: what is in it is to be done.
OVER = _words("previous old older earlier former history transcript told wrong bad")
INSTRUCTING = _words("""follow this: include instructions output persist write save findings
    deliverable result""")
QUOTES = _words("prompt prompts wording following follows below between pasted sense")

# In a file's name, in capitals: what somebody was to fill in; the second also among capitals.
FILLED_IN = _words("""ROLE NAME AGENT DATE TIME TIMESTAMP ID UUID SLUG TOPIC TITLE SHA HASH NUMBER
    NUM INDEX YOUR MY TBD TODO PLACEHOLDER SKILL SESSION TASK LANE PHASE USER BRANCH VERSION
    FILENAME FILE X Y N K""")
ALWAYS_FILLED_IN = _words("TBD TODO PLACEHOLDER FILENAME YOUR N X")
