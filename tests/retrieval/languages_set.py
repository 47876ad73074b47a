"""Ten short texts in four languages, and questions in other forms of their words."""

from __future__ import annotations

TEXTS = {
    "german": [
        "Mitarbeiterinnen haben dreißig Urlaubstage. Anträge werden vom Vorgesetzten genehmigt.",
        "Die Rechnungen der Lieferanten werden binnen vierzehn Tagen bezahlt.",
        "Alte Batterien gehören in die Sammelstelle und nicht in den Hausmüll.",
        "Der Mietvertrag kann mit einer Frist von drei Monaten gekündigt werden.",
        "Kinder unter sechs Jahren fahren in den Bussen der Stadt kostenlos.",
        "Das Brot wird bei hoher Hitze gebacken und danach auf einem Gitter abgekühlt.",
        "Die Wanderwege im Gebirge sind im Winter wegen Lawinen gesperrt.",
        "Das Museum zeigt Gemälde flämischer Maler des siebzehnten Jahrhunderts.",
        "Der Drucker im zweiten Stock verlangt neue Patronen, die im Schrank liegen.",
        "Impfungen gegen Grippe gibt der Hausarzt im Herbst.",
    ],
    "russian": [
        "Сотрудникам предоставляется тридцать дней отпуска. Заявления подписывает начальник.",
        "Счета поставщиков оплачиваются в течение четырнадцати дней.",
        "Старые батарейки сдают в пункты приёма, а не выбрасывают с мусором.",
        "Договор аренды квартиры расторгается с уведомлением за три месяца.",
        "Дети до шести лет ездят в городских автобусах бесплатно.",
        "Хлеб выпекают при высокой температуре и остужают на решётке.",
        "Горные тропы зимой закрыты из-за лавин.",
        "В музее выставлены картины фламандских художников семнадцатого века.",
        "Принтеру на втором этаже нужны новые картриджи, они лежат в шкафу.",
        "Прививки от гриппа делает участковый врач осенью.",
    ],
    "arabic": [
        "يحصل الموظفون على ثلاثين يوما من الإجازات. يوافق المدير على الطلبات.",
        "تدفع فواتير الموردين خلال أربعة عشر يوما.",
        "توضع البطاريات القديمة في مراكز الجمع ولا ترمى مع النفايات.",
        "يمكن إنهاء عقد إيجار الشقة بإشعار قبل ثلاثة أشهر.",
        "يركب الأطفال دون السادسة في حافلات المدينة مجانا.",
        "يخبز الخبز في حرارة عالية ثم يبرد على شبكة.",
        "تغلق المسارات الجبلية في الشتاء بسبب الانهيارات الثلجية.",
        "يعرض المتحف لوحات الرسامين الفلمنكيين من القرن السابع عشر.",
        "تحتاج الطابعة في الطابق الثاني إلى خراطيش جديدة في الخزانة.",
        "يعطي طبيب الأسرة لقاحات الإنفلونزا في الخريف.",
    ],
    "japanese": [
        "従業員には年に三十日の有給休暇がある。申請は上司が承認する。",
        "仕入先からの請求書は十四日以内に支払う。",
        "古い電池は回収箱に入れ、家庭ごみには出さない。",
        "賃貸契約は三か月前に通知すれば解約できる。",
        "六歳未満の子供は市バスに無料で乗れる。",
        "パンは高温で焼き、その後網の上で冷ます。",
        "山の登山道は冬の間、雪崩のため閉鎖される。",
        "美術館は十七世紀のフランドル画家の絵画を展示している。",
        "二階のプリンターには新しいカートリッジが必要で、棚にある。",
        "インフルエンザの予防接種は秋にかかりつけの医師が行う。",
    ],
}

QUESTIONS = {
    "german": [
        ("Wie viele Tage Urlaub hat eine Mitarbeiterin?", 0),
        ("Wann zahlen wir die Rechnung eines Lieferanten?", 1),
        ("Wohin mit einer alten Batterie?", 2),
        ("Fährt ein Kind mit dem Bus der Stadt umsonst?", 4),
        ("Warum ist der Wanderweg in den Gebirgen gesperrt?", 6),
        ("Welches Gemälde eines flämischen Malers ist im Museum?", 7),
    ],
    "russian": [
        ("Сколько дней отпусков у сотрудника?", 0),
        ("Когда оплатят счёт поставщика?", 1),
        ("Куда сдать старую батарейку?", 2),
        ("Платит ли ребёнок в городском автобусе шести лет?", 4),
        ("Почему закрыта горная тропа?", 6),
        ("Какая картина фламандского художника есть в музеях?", 7),
    ],
    "arabic": [
        ("كم يوم إجازة للموظف؟", 0),
        ("متى تدفع فاتورة المورد أو الفواتير؟", 1),
        ("أين أضع بطارية قديمة أو بطاريات؟", 2),
        ("هل الحافلة مجانية لأطفال المدينة؟", 4),
        ("لماذا أغلق المسار الجبلي في شتاء؟", 6),
        ("ما لوحة الرسام الفلمنكي في متحف؟", 7),
    ],
    "japanese": [
        ("有給の休暇は何日ですか？", 0),
        ("請求書はいつ支払いますか？", 1),
        ("使った電池はどこに出しますか？", 2),
        ("子供はバスが無料ですか？", 4),
        ("登山道はなぜ閉鎖されていますか？", 6),
        ("どの画家の絵画が展示されていますか？", 7),
    ],
}
