"""What questions in English are known by."""

from __future__ import annotations

from ragkit.retrieval.query.question_words.language import Language

ENGLISH = Language(
    codes=("en",),
    function_words="""
any some other others another much many more most less few several those one ones all him her
them themselves itself myself yourself im ive just only very really quite even ever yet already
actually still also too maybe perhaps please thanks thank ok okay though although however here
now
""",
    greetings=r"""
(hi|hello|hey|good (morning|afternoon|evening)|dear)( there| all| everyone| team)?
thanks|thank you|sorry|excuse me|quick question|ok(ay)?|well|so|and|also|then
""",
    openings=r"""
please( define| explain| describe| find| list)?
(can|could|would|will) (you|anyone|someone)( please| kindly| provide)*
(do you|does (anyone|someone)) know
(tell|show|give|remind|teach) (me|us)( please)?
(explain|describe)( (to|for) (me|us))?(?= (how|what|why|when|where|who|the|in))
help (me|us)( out| with| to| find| understand| get)*
(i|we)(['’]?d| would)?( really| just)? (want|need|like|love|wish|have) to\
( know| understand| learn| find out| find| see| hear| ask| look up)
(i|we)(['’]?m| am|['’]?re| are) (looking|searching|trying to find)( for)?
(i|we)(['’]?d like| want| need| would like)( some| any| more| help| information| info| details)*
(is|are) there (an?|any|some)( way| possibility| method| option)?( to| of| for)?
is it( still)? possible( to)?
what(['’]?s| is| are| would be) the\
( best| easiest| right| correct| proper| quickest| fastest| simplest| recommended)\
( way| method| approach)( to| of| for| get| find| do| use| make)*
what(['’]?s| is| was) the (purpose|point|use) of
(how|where|when|why|what|which)\
(( do| can| could| should| would| must| did| may| might)(n?['’]?t| not)?|['’]?d)\
( i| we| you| one)( get| find| do| make| need| have| want| use| know| go| mean)*\
( to| about| for| if| when| with| by)?( do| get| find| make| use| know)?
how to( get| find| do| use| make)?
""",
    objects=r"""
(an? |some |any |more |further |all )*(overview|summary|information|info|details|everything|help)\
( about| on| of| regarding| concerning| with)
(an? |some |any )*(more|anything|something) about
(how|what|where) to( get| find| do| use| make)?
(how|where|when|what|why|whether|if) (i|we|you|one)\
( can| could| should| must| may| need| have| to| get| find| do| use| make)+
""",
    endings=r"""
(not|to) work
work(s|ing)
please
""",
    meanings=r"""
((what(['’]?s| is) )?the )?(meaning|definition) of( the (term|word))? X
what do(es)? X (means?|stands? for)
(what|who)(['’]?s| is| are| was| were)( meant by)? X
(please )?(define|explain)( the (term|word))? X
X(['’]s)? (meaning|definition)
""",
    asks_amount=r"""
how (?:many|much|long|often|old|far|large|big|high|heavy|tall|wide|deep|fast|soon)
what(?:(?:['’]?s| is| was) (?:the|its|their|your) (?:\w+ ){0,2}?| )\
(?:percentage|share|number|amount|price|size|age|height|weight|limit)
""",
    asks_time=r"""
when
(?:what|which) (?:year|date|day|month|time|hour)
""",
    asks_who=r"""
who(?:m|se)?
""",
    asks_yes_no=r"""
(?:(?:and|but|so|then|ok(?:ay)?),? )?(?:is|are|am|were|do|does|did|has|have|had|can|could|will\
|would|should|may|must|was(?! (?:ist|sind|war|bedeutet|heisst|kostet|macht|passiert|kann|muss|darf\
|soll|gibt|steht|liegt)))
""",
    numbers="""
one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty
sixty hundred thousand million billion half twice
""",
)
