"""What questions in Portuguese are known by."""

from __future__ import annotations

from ragkit.retrieval.query.question_words.language import Language

PORTUGUESE = Language(
    codes=("pt",),
    stemmer="portuguese",
    function_words="""
o os a as um uma de do da dos das e ou nao sao tem pode deve em no na nos nas com sem por para
sobre entre ate se seu sua que quem qual quais como quando quanto quantos quantas onde ao meu
minha meus minhas teu tua nosso nossa nossos nossas eu sou estou tenho vou posso podem devo devem
este esta estes estas esse essa isso aos pelo pela pelos pelas quanta muito tambem
""",
    greetings=r"""
olá|oi|bom dia|boa (tarde|noite)
""",
    openings=r"""
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
    endings=r"""
por favor
""",
    meanings=r"""
((qual é )?[ao] )?(definição|significado) d[eoa]s? X
o que (é|e|são|sao|significam?) X
quem (é|foi) X
""",
    asks_amount=r"""
quant[oa]s?
que (?:tamanho|idade|distancia)
""",
    asks_time=r"""
quando
a que horas?|(?:em )?que (?:ano|data|dia|mes)
""",
    asks_who=r"""
quem
""",
    numbers="""
dois duas três quatro cinco seis sete oito nove dez onze doze quinze vinte trinta quarenta
cinquenta cem mil milhões metade
""",
    times="""
feira sábado sábados domingo domingos
manhã tarde noite semana semanas mês meses ano anos dia dias hora horas
""",
)
