"""What questions are known by in Slavic languages of Latin letters, and in Lithuanian.

These ask for a meaning in much the same words.
"""

from __future__ import annotations

from ragkit.retrieval.query.question_words.language import Language

# Of Polish and Czech.
_MEANINGS = r"""
co (to jest|to są|to znaczy|to|oznacza|oznaczają|znaczy|je to|je|jsou|znamen[aá]|znamenaj[ií]) X
(kto to|kdo to|czym|kim|kdo) (jest|są|był[aoi]?|je|byl[aoi]?) X
(definicja|definice|znaczenie|význam) X
X,? co to( jest| je| znaczy)?
"""
# Of the others.
_OTHER_MEANINGS = r"""
([cč]o|[sš]t[oa]|kaj|kas) (je|sú|su|so|zna[cč]i|znamen[aá]|pomeni|yra) X
"""

POLISH = Language(
    codes=("pl",),
    stemmer="polish",
    has_many_forms=True,
    accented_endings="ów",
    function_words="""
w we z ze o u na od oraz lub albo nie jest sa sie jak gdzie kiedy ile czy co kto ktory ktora ktore
dla po przy przez pod nad za ta te tego tej byc moze mozna trzeba dlaczego jaki jaka jakie moj
moja moje moich mojej mojego moim mnie mi nasz nasza nasze naszych moge mozemy jesli zeby jestem
jestes jestesmy bedzie bede beda byl byla bylo byli bym aby wiec tez tych tym temu
swoj swoja swoje swoich swojego swojej jego jej ich nim niej nich ktorego ktorej ktorym ktorych komu
kogo czego czym skad gdy mam mamy maja musze musi musimy chce
""",
    openings=r"""
(czy )?(możesz|mógłbyś|mogłabyś|możecie|może pani?|ktoś może|proszę)\
( mi| nam| powiedzieć| powiedz| wyjaśnić| pokazać| pomóc| podać| co| warto| wiedzieć)*
(chcę|chciał(by|a?by)m|chcemy)( się| wiedzieć| dowiedzieć| zrozumieć| znaleźć| więcej| jak| działa)*
(szukam|szukamy|potrzebuję|potrzebujemy)( informacji| pomocy| na temat| o| z| przy)*
(pokaż|powiedz|wyjaśnij|podaj|opisz) (mi|nam)( wszystko| więcej| o| co)*
(jak|gdzie|kiedy|dlaczego|co) (mogę|można|możemy|muszę|trzeba|należy|powin(ienem|nam))\
( znaleźć| zrobić| uzyskać| dostać| użyć| wiedzieć| o| dla)*
(jak|gdzie) (się|znajdę|znaleźć|jest|są|zrobić|dostać|działa|działają)( używa| robi)?
czy (jest|są|istnieje)( jakiś)? sposób( żeby| aby| na)?
czy wiesz( gdzie| jak| czy| kiedy)?( jest| są)?
(do czego|po co)( służy| służą| jest)
""",
    endings=r"""
(nie działa(ją)?|działa(ją)?)
""",
    meanings=_MEANINGS,
    asks_amount=r"""
ile(?! d['’e])|jak (?:dlugo|czesto|duz[aey]|wysok[aei]|daleko|star[aey])
""",
    asks_time=r"""
kiedy
""",
    asks_who=r"""
kto|kogo|komu
""",
    asks_yes_no=r"""
czy
""",
    numbers="""
dwa dwie trzy cztery pięć sześć siedem osiem dziewięć dziesięć dwanaście dwadzieścia trzydzieści
sto tysiąc tysięcy milion połowa
""",
)
CZECH = Language(
    codes=("cs",),
    stemmer="czech",
    has_many_forms=True,
    function_words="""
v ve z ze k o u na od nebo ne je jsou se si jak kde kdy kolik co kdo ktery ktera ktere pro po pri
pod nad za ta byt muze proc jaky jaka jake muj moje moji mych mi mne nas nase nasi mohu muzu
muzeme kdyz aby jsem jsi jsme jste neni nejsou budu bude budeme budou byl byla bylo byli bych bychom
mam mame maji musim musi musime lze chci chceme kam odkud jestli zda protoze take
tento tato toto tyto tohoto teto techto svuj sve svou svych jeho jeji jejich nim nich ktereho kterou
kterych kterym cim cem kym
""",
    openings=r"""
(můžete|můžeš|mohl[ai]? byste|mohla? bys|prosím)\
( mi| nám| říct| říci| vysvětlit| ukázat| pomoci| pomoct| poradit| s| co| mám| vědět| o)*
(chci|chtěla? bych|chceme)\
( vědět| zjistit| pochopit| najít| se| dozvědět| více| víc| jak| funguj[eí]| o)*
(hledám|hledáme|potřebuji|potřebuju|potřebujeme)( informace| pomoc| vědět| o| s| k| na)*
(ukaž|ukažte|řekni|řekněte|vysvětli|vysvětlete|poraď|poraďte) (mi|nám)\
( vše| všechno| více| o| co)*
(jak|kde|kdy|proč|co) (mohu|můžu|lze|můžeme|mám|musím|musíme|je třeba)\
( najít| udělat| získat| dostat| použít| vědět| pro| o)*
(jak|kde) (se|najdu|najít|je|jsou|získám|udělat|funguje|fungují)\
( používá| používají| dělá| nachází)?
existuje( nějaký)? způsob( jak)?
(víte|víš|nevíte)( kde| jak| co| kdy| zda)?( je| jsou)?
(k čemu|na co)( slouží| je)
""",
    endings=r"""
(ne)?funguj[eí]
""",
    meanings=_MEANINGS,
    asks_amount=r"""
kolika?|jak (?:dlouho|casto|velk[aey]|vysok[aey]|daleko|star[aey])
""",
    asks_time=r"""
kdy
""",
    asks_who=r"""
kdo|komu
""",
    numbers="""
dva dvě tři čtyři pět šest sedm osm devět deset dvanáct dvacet třicet sto tisíc milion polovina
""",
)
SLOVAK = Language(
    codes=("sk",),
    meanings=_OTHER_MEANINGS,
    asks_amount=r"""
kolko
""",
    asks_time=r"""
kedy
""",
)
# Croatian and Slovene are asked with its stemmer and function words.
SERBIAN = Language(
    codes=("hr", "sl", "sr"),
    stemmer="serbian",
    has_many_forms=True,
    function_words="""
je su se si sa o u na za po pri od iz ili ali ne nije ni da ce li kao kako gdje gde kje kada kad
kdaj tko kdo ko sto sta kaj koji koja koje kateri katera katere koliko zasto zakaj moze mogu lahko
treba moj moja moje mojih mi mene nas nasa nase mozemo ako jer smo ste bio bila bilo bih imam imamo
moram moramo zelim svoj svoja svoje svojih ovaj ovo njih kojeg kojem kome cemu odakle kamo kuda
""",
    meanings=_OTHER_MEANINGS,
    asks_amount=r"""
koliko|kako dugo
""",
    asks_time=r"""
kada|kdaj
""",
    asks_yes_no=r"""
da li
""",
    numbers="""
dva dvije dve tri četiri pet šest sedam osam devet deset dvanaest dvadeset trideset sto tisuća
hiljada milijun polovica
""",
)
LITHUANIAN = Language(
    codes=("lt",),
    stemmer="lithuanian",
    has_many_forms=True,
    meanings=_OTHER_MEANINGS,
)
