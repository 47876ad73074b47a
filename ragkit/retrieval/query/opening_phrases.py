"""The phrases with which people begin a question, by language; ``openings`` leaves them out."""

from __future__ import annotations

# A line is a phrase, and goes on behind a backslash. A space is any space, and all else a pattern;
# what stands in "( a| b)*" may follow in any order.
OPENINGS = {
    "en": r"""
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
    "cs": r"""
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
    "da, no": r"""
(kan|kunne|vil) (du|i|dere|nogen|noen)\
( sige| si| forklare| vise| hjælpe| hjelpe| fortælle| fortelle| mig| meg| os| oss| med| om| hvad\
| hva| jeg| skal| vide| vite)*
(jeg|vi) (vil|ville|kunne|skulle|ønsker)\
( gerne| gjerne| at| å| vide| vite| forstå| finde| finne| mere| mer| hvordan| om)*
(jeg|vi) (søger|søker|leder|leter|trenger|har brug for)\
( efter| etter| oplysninger| opplysninger| information(er)?| informasjon| hjælp| hjelp| om| til\
| med)*
(vis|fortæl|fortell|sig|si|giv|gi|forklar)( mig| meg| os| oss)+( alt| mere| mer| om)*
(hvordan|hvor|hvornår|når|hvorfor|hvad|hva) (kan|skal|må|bør|får) (jeg|vi|man|du)\
( finde| finne| gøre| gjøre| få| bruge| bruke| vide| vite| for| om| med| at)*
(hvordan|hvor)\
( finder| finner| får| gør| gjør| bruger| bruker| virker| fungerer| findes| finnes)\
( jeg| vi| man)?
hvorfor (virker|fungerer)( ikke)?
(er|finnes|findes) de[rt]( en| et| nogen| noen| måde| måte| mulighe[dt])*( at| å)?
(ved|vet) (du|i|dere|nogen|noen)( hvor| hvordan| om| hvad| hva)?
""",
    "de": r"""
(können|könnten|kannst|könntest|würden|würdest) (sie|du|ihr)\
( mir| uns| bitte| sagen| erklären| zeigen| helfen| verraten| was| man)*
(sag|sage|zeig|zeige|erkläre?|gib|nenne?|(sagen|zeigen|erklären|geben|nennen) sie)\
( mir| uns| bitte)+( alles| mehr| etwas| informationen| infos)*
bitte
(ich|wir) (möchten?|will|wollen|würden?)\
( gerne?| bitte| wissen| erfahren| verstehen| mehr| alles| etwas| über)*
(ich|wir) (suchen?|brauchen?)\
( nach| informationen| infos?| hilfe| angaben| etwas| alles| mehr)*
(wie|wo|wann|warum|wieso|weshalb|was|womit|wozu)\
( kann| könnte| können| muss| müssen| sollte?n?| darf| dürfen)( ich| wir| man| tun| machen)*
(wie|wo|wann|was|wieso|warum) (finden?|bekommen?|erhalten?|kriegen?|geht|gehen|klappt|steht\
|stehen|funktionier(t|en)|gibt es|machen?|macht|tun?)( ich| wir| man)?
gibt es( eine?n?| irgendeine?n?| möglichkeit(en)?| weg| option)*
(weißt|weisst|wissen|wisst) (du|sie|ihr)
(ist|wäre) es möglich
""",
    "fi": r"""
(voitko|voisitko|voitteko|voisitteko|(voiko|voisiko|osaako|osaisiko) joku)\
( te| ystävällisesti| kertoa| selittää| näyttää| neuvoa| auttaa| sanoa| opastaa| minulle| meille\
| minua| meitä| mulle)*
(haluan|haluaisin|haluamme|haluaisimme|tahtoisin)\
( tietää| ymmärtää| oppia| löytää| nähdä| kuulla| saada| lisätietoja| lisätietoa| tietoa| lisää\
| apua| ohjeita| aiheesta| asiasta)*
(etsin|etsimme|kaipaan|tarvitsen|tarvitsemme|tarvitsisin)\
( tietoa| tietoja| lisätietoa| lisätietoja| ohjeita| ohjetta| apua| neuvoja| aiheesta| asiasta\
| siitä| siihen)*
(kerro|kertokaa|näytä|näyttäkää|selitä|neuvo|auta)( minulle| meille| minua| meitä| mulle)+\
( kaikki| lisää| aiheesta| asiasta| siitä)*
(miten|kuinka|mistä|missä|milloin|miksi|mitä)\
( voin| voisin| voi| voimme| voidaan| saan| saisin| saa| saadaan| pitää| täytyy| pitäisi| minun\
| meidän| löytää| tehdä| saada| käyttää| tietää| löydän| löytyy| löytyvät| löydämme| on| ovat\
| sijaitsee| teen| käytän| käytetään| tehdään| toimii| toimivat)+
miten|kuinka|mistä|missä|milloin|miksi|mihin|mitä
miksi (ei toimi|en (voi|saa))
(onko|olisiko)( olemassa| jokin| joku| mitään| tapaa?| keinoa?| mahdollista| mahdollisuutta)+
tiedätkö|tiedättekö|tietääkö joku
""",
    "fr": r"""
(pouvez|pourriez|peux|pourrais|peut|pourrait)[-\s](vous|tu|on)\
( me| nous| dire| expliquer| montrer| indiquer| aider| donner| savoir| tout| sur| à\
| m['’](expliquer|indiquer|aider)| ce qu['’](il faut|on doit))*
(vous pouvez|tu peux|vous pourriez|tu pourrais)\
( me| nous| dire| expliquer| montrer| indiquer| aider| donner| m['’](expliquer|indiquer|aider))*
(je (veux|voudrais|souhaite|souhaiterais)|j['’]aimerais|nous (voulons|voudrions|aimerions))\
( bien| savoir| comprendre| connaître| trouver| apprendre| en| plus| sur| comment\
| fonctionne(nt)?)*
(je|nous) (cherche|recherche|cherchons)\
( des| les| quelques| informations?| infos?| renseignements?| détails?| explications?| sur\
| concernant)*
(j['’]ai|nous avons) besoin (d['’](aide|informations?|explications?)|de|des)\
( renseignements?| avec| sur| pour)*
(montre|montrez|dis|dites|explique|expliquez|donne|donnez|indique|indiquez)[-\s](moi|nous)\
( tout| plus| sur| comment| des| informations?)*
(comment|où|quand|pourquoi|que)( est-ce que)?\
( puis-je| peut-on| pouvons-nous| peux-tu| dois-je| doit-on| devons-nous| faut-il| je peux\
| on peut| je dois| on doit)( trouver| faire| obtenir| avoir| utiliser| savoir| sur| pour)*
qu['’]est-ce qu(e|['’]) ?(je|on|il) (peux|peut|dois|doit|faut)( faire| savoir| avec| pour| sur)*
(comment|où)\
( faire| trouver| obtenir| utiliser| avoir| se trouve(nt)?| marche(nt)?| fonctionne(nt)?)( pour)?
(y a[-\s]t[-\s]il|existe[-\s]t[-\s]il|est-ce qu['’]il y a)\
( une?| des| moyens?| façons?| manières?| possibilités?| de| pour)*
(est-ce qu['’]il est|est-il) possible
(sais|savez|connais|connaissez)[-\s](tu|vous)( où| comment| si| est| sont)*
à quoi (sert|servent)
s['’]il (vous|te) pla[iî]t
""",
    "es": r"""
(me )?(puedes?|podrías?|pueden)\
( usted| ustedes| decir(me)?| explicar(me)?| mostrar(me)?| ayudarme| darme| indicarme| qué| hay\
| que| saber| con| sobre)*
(quiero|quisiera|querría|necesito|queremos|necesitamos|(me|nos) gustaría)\
( saber| conocer| entender| aprender| encontrar| ver| ayuda| información| más| todo| algo| con\
| sobre| cómo| funcionan?)*
(busco|estoy buscando|buscamos)( la| alguna| más| información| datos| ayuda| detalles| sobre)*
(mu[eé]strame|dime|expl[ií]came|dame|ens[eé]ñame|cu[eé]ntame|ind[ií]came)\
( todo| más| algo| información| sobre)*
(c[oó]mo|d[oó]nde|cu[aá]ndo|por qu[eé]|qu[eé])\
( puedo| podemos| se puede| debo| debemos| tengo que| hay que| necesito)\
( encontrar| hacer| obtener| conseguir| saber| usar| ver| para| sobre)*
(c[oó]mo|d[oó]nde) (encuentro|se encuentran?|encontrar|est[aá]n?|consigo|obtengo|se hacen?|hago\
|hacer|obtener|conseguir|usar|se usan?)
por qu[eé] no (funcionan?|puedo)( usar)?
hay (alguna?|una?)( manera| forma| modo| posibilidad| opción)
es posible
(sabes|sabe|saben) (d[oó]nde|c[oó]mo|si|qu[eé]|cu[aá]ndo)( se| encuentran?| están?)*
para qu[eé] (sirven?|se usan?)
por favor
""",
    "hu": r"""
((el|meg) )?(tudná[dk]?|tudnátok|tudna|tudnál)( ön| valaki| kérem| kérlek)*\
( nekem| nekünk| el| meg| magyarázni| mondani| mutatni| segíteni| abban| hogy| hogyan| hol| mi| mit\
| kell| tudni| erről| az a)*
(el|meg)(magyaráznád?|mondanád?|mutatnád?)( nekem| nekünk| kérem| kérlek| hogy| hogyan| hol| mi\
| mit| kell| tudni| erről| az a)*
(szeretné[mk]|szeretnénk|akarom)( tudni| megtudni| megérteni| megtalálni| többet| látni| kérni\
| segítséget| információt| hogyan| hogy| hol| mi az| működi?k(nek)?| erről| arról)*
(keresek|keresünk)( információt| információkat| leírást| útmutatót| segítséget| erről| arról)*
(információt|információkat|leírást|útmutatót|segítséget|tájékoztatást)\
( keresek| kérek| kérnék| szeretnék| keresünk| erről| arról)+
segítségre (van|lenne) szükség(em|ünk)
(mutasd|mutass|mutassa|mondd?|mondja|magyarázd|magyarázza)( el| meg)?( nekem| nekünk| mindent\
| hogyan| hogy| hol| mi az a| mit)+
(hogyan|hogy|hol|honnan|mikor|miért|mit)\
 (tudom|tudok|tudunk|tudnám|tudnék|lehet|lehetne|kell|kellene|találhatom|találhatok|találom|találok\
|található(a?k)?|érhető|használhatom|használható|működik|működnek|csináljam|tegyek)\
( el| meg| megtalálni| találni| használni| csinálni| tenni| tennem| tennünk| tudni| tudnom| elérni\
| kapni)*
(hol|hogy) van(nak)?(?= az? )
mire (való|jó|szolgál(nak)?|használ(ják|ható)|kell)k?
miért nem (működi?k(nek)?|megy|lehet|tudom|tudok)( használni)?
(van|létezik|lenne)(-e)?( rá| erre)?( valamilyen| valami| bármilyen)? (mód|lehetőség)\
( arra| rá| hogy)*
lehetséges(-e)?( az)? hogy
(tudja|tudod|tudjátok)( valaki|-e| ön)*( hol| hogyan| hogy| mit| mi| mikor)( van| találom| kell)*
""",
    "it": r"""
(mi )?(può|puoi|potrebbe|potresti|potete)\
( dire| dirmi| spiegare| spiegarmi| mostrarmi| aiutarmi| darmi| indicarmi| cosa| con| su)*
(voglio|vorrei|vogliamo|vorremmo|mi piacerebbe|ho bisogno di|abbiamo bisogno di)\
( sapere| capire| conoscere| trovare| imparare| saperne| aiuto| informazioni| di più| tutto| con\
| su| sul(la)?| come| funziona(no)?)*
(cerco|sto cercando|cerchiamo)( informazioni| dettagli| aiuto| su| sul(la)?)*
(mostrami|dimmi|spiegami|dammi|indicami)( tutto| qualcosa| di più| informazioni| su| sul(la)?)*
(come|dove|quando|perché|cosa|che cosa)\
( posso| possiamo| si può| devo| dobbiamo| si deve| bisogna)\
( trovare| fare| ottenere| usare| avere| sapere| per| su)*
(come|dove) (trovo|si trova(no)?|trovare|ottengo|si fa(nno)?|faccio|fare|ottenere|usare|si usa(no)?)
perché non (funziona(no)?|riesco a)( usare)?
(c['’]è|esiste|ci sono)( qualche)?( un)? (modo|maniera|possibilità|opzione)
è possibile
(sai|sapete|sa) (dove|come|se|cosa|quando)( si| trova(no)?)*
a (che )?cosa serv(e|ono)
per favore
""",
    "nl": r"""
(kun|kunt|kan|zou|zouden) (je|jij|u|iemand|jullie)( me| mij| ons| alsjeblieft| kunnen)*\
( vertellen| uitleggen| helpen| met| wat| ik| over)*
(ik|we|wij) (wil|willen|zou|zouden)( graag| weten| begrijpen| leren| meer| alles| over| hoe)*
(ik|we|wij) (zoek|zoeken|heb|hebben)( informatie| info| hulp| nodig| over| bij| met| naar)+
(vertel|toon|laat|geef|leg)( me| mij| ons)( alles| meer| zien| over| uit| informatie)*
(hoe|waar|wanneer|waarom|wat|waarmee) (kan|kunnen|moet|moeten|mag|mogen)( ik| we| je| men)( doen)?
(hoe|waar) (vind|vinden|krijg|krijgen|werken|werkt|staat|gebruik|doe)( ik| we| je)?
waarom werkt
is er( een| manier| mogelijkheid| om)*
is het mogelijk
(weet|weten) (je|jij|u|jullie|iemand)
waarvoor (dient|dienen|is)
""",
    "pl": r"""
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
    "pt": r"""
(você )?(pode|podes|poderia|podem)( você)?\
( me| dizer| dizer-me| explicar| explicar-me| mostrar| ajudar| ajudar-me| dar| o que| com| sobre)*
(quero|queria|gostaria de|preciso( de)?|precisamos( de)?|queremos)\
( saber| conhecer| entender| aprender| encontrar| ajuda| informações| mais| tudo| com| sobre| como\
| funcionam?)*
(procuro|estou à procura de|busco)( informações| informação| detalhes| ajuda| sobre)*
(mostre-me|diga-me|explique-me|dê-me|mostra-me|diz-me)( tudo| mais| algo| informações| sobre)*
(como|onde|quando|por que|porque|o que)\
( posso| podemos| se pode| devo| devemos| tenho (de|que)| é preciso| preciso)\
( encontrar| fazer| obter| conseguir| saber| usar| para| sobre)*
(como|onde) (encontro|se encontram?|encontrar|está|estão|fica|consigo|obtenho|se fa(z|zem)|faço\
|fazer|obter|conseguir|usar|se usam?)
(por que|porque) não funcionam?
(há|existe)( alguma?| uma?)? (maneira|forma|modo|possibilidade|opção)
é possível
(sabe|sabes|sabem) (onde|como|se|o que|quando)( se| encontram?| está| fica)*
para que servem?
por favor
""",
    "ru": r"""
(не )?(можете|можешь|могли бы вы|мог бы ты|можно)( ли)?( вы| ты| мне| нам)*\
( мне| сказать| объяснить| показать| помочь| рассказать| найти| о| об| про)*
(подскажи|скажи|расскажи|покажи|объясни|помоги)(те)?\
( пожалуйста| мне| нам| всё| все| о| об| про| что| надо| нужно| знать| с)*
(я )?(хочу|хотел(а)? бы|хотелось бы|мы хотим)\
( узнать| знать| понять| найти| больше| как| о| об| про| работа[ею]т)*
(я )?(ищу|ищем)( информацию| сведения| о| об| про| по)*
(мне|нам) (нужен|нужн[аоы]|надо|необходим[аоы]?)\
( помощь| информация| сведения| узнать| знать| найти| с| о| об| про| по)*
(как|где|когда|почему|что)( мне| нам| я| мы)?\
( найти| можно| нужно| надо| могу| можем| должен| следует| сделать| получить| узнать| пользоваться\
| использовать| находится| находятся| для)+
почему не (работа[ею]т|получается)
есть ли( какой-нибудь)? способ
(вы |ты )?(знаете|знаешь)( ли| вы)? (где|как|что|когда)( находится| находятся| найти)*
(для чего|зачем)( нужен| нужн[аоы]| служ[аи]т)*
""",
    "sv": r"""
(kan|kunde|skulle) (du|ni|någon)\
( säga| förklara| visa| hjälpa| berätta| mig| oss| med| om| vad| jag| behöver| veta| snälla)*
(jag|vi) (vill|skulle vilja|behöver)( gärna| veta| förstå| hitta| mer| hjälp| information| hur| om\
| med)*
(jag|vi) (söker|letar)( efter| information| hjälp| om)*
(visa|berätta|säg|ge|förklara)( mig| oss| för mig)+( allt| mer| information| om)*
(hur|var|när|varför|vad) (kan|måste|ska|bör|får) (jag|vi|man|du)\
( hitta| göra| få| använda| veta| för| om| med)*
(hur|var) (hittar|får|gör|använder|fungerar|finns)( jag| vi| man)?
varför fungerar( inte)?
finns det( något| ett| en| sätt| möjlighet)*( att)?
(vet|känner) (du|ni|någon)( var| hur| om| vad)?
""",
    "tr": r"""
nasıl|nerede|nereden
""",
}
# Greetings and the like, dropped where a phrase follows.
GREETINGS = r"""
(hi|hello|hey|good (morning|afternoon|evening)|dear)( there| all| everyone| team)?
thanks|thank you|sorry|excuse me|quick question|ok(ay)?|well|so|and|also|then
(hallo|hi|guten (morgen|tag|abend)|entschuldigung|und|also)( zusammen)?
bonjour|salut|bonsoir|et|alors
hola|buen[oa]s (días|tardes|noches)|buenas|y|entonces
ciao|buongiorno|buonasera|salve|e
hoi|goedemorgen|goedemiddag|en|dus
olá|oi|bom dia|boa (tarde|noite)
"""
# What may stand behind an opening, and is searched for without one.
OBJECTS = r"""
(an? |some |any |more |further |all )*(overview|summary|information|info|details|everything|help)\
( about| on| of| regarding| concerning| with)
(an? |some |any )*(more|anything|something) about
(how|what|where) to( get| find| do| use| make)?
(how|where|when|what|why|whether|if) (i|we|you|one)\
( can| could| should| must| may| need| have| to| get| find| do| use| make)+
(wie|wo|wann|was|ob) (ich|wir|man)
(comment|où|quand|si) (je|on|nous)( (peux|peut|dois|doit|pouvons|devons|pourrais))?\
( trouver| faire| obtenir| avoir| utiliser)?
(c[oó]mo|d[oó]nde|cu[aá]ndo|si)( puedo| podemos| debo| se puede| tengo que)\
( encontrar| hacer| obtener| conseguir| usar| ver)?
(hur|var|när|vad) (jag|vi|man)( kan| hittar| får| gör)*
(hvordan|hvor|hvornår|når|hvad?) (jeg|vi|man)( kan| finder| finner| får)*
"""
# Verbs and wishes at the end of what has an opening.
ENDINGS = r"""
(not|to) work
work(s|ing)
please
(finden|bekommen|erhalten|erklären|sagen|zeigen|wissen|erfahren|verstehen|tun|machen)\
( kann| können| könnte| muss| müssen| sollte?| darf)?
funktionier(t|en)|nicht|bitte
(ne )?(marche|fonctionne)(nt)?( pas)?
s['’]il (vous|te) pla[iî]t|svp|stp|por favor|per favore|alsjeblieft
(vinden|krijgen|uitleggen|doen|weten|niet)
(nie działa(ją)?|działa(ją)?)
(не )?работа[ею]т
(fungerar|finns|för mig)
((virker|fungerer)( ikke)?|ikke)
(ne)?funguj[eí]
(ei )?toimi|toimi(i|vat)|käytetään|tehdään|tarvitaan|varten|löytää|löydän|löytyy|tehdä|saada|kiitos
működi?k(nek)?|használatához|használni|megtalálni|kérem|kérlek
bulabilirim|bulurum|yapabilirim|kullanabilirim|yapılır|bulunur
"""
