"""Which language a text is in, as far as the keyword search has a use for it: to take endings off its words.

Languages go by the names of Postgres' text search configurations. What Postgres knows no endings of is ``simple``.
"""

from __future__ import annotations

from collections import Counter

from citewell.core.words import words

SIMPLE = "simple"

_SAMPLE_CHARACTERS = 50_000

# Of a language's running text, a third to a half are words like these. They decide in long texts and in questions,
# so each list begins with what sentences are joined by and goes on with what questions begin with. Words that close
# relatives share (de, en, la) cancel out, and tell them from everything else.
_FUNCTION_WORDS = {
    "english": "the of and to in is that for it as was with be by on are this from at or an which not have has were "
    "what how who when where why do does did can i my we our you your if will there",
    "german": "der die das und ist von den mit zu im des nicht ein eine sich auf dem für auch als wird es werden aus "
    "wie was wer wann wo warum welche welcher welches kann ich wir man bei nach einem einer oder sind hat wurde",
    "french": "le la les de des et est un une en du que qui dans pour pas sur au aux par il elle ce cette sont avec "
    "quel quelle quels quand comment où pourquoi combien je nous on ou ont été",
    "spanish": "el la los las de del y es en que un una por con para no se su al lo como más fue son o este está "
    "qué cuál cuándo cómo quién dónde cuánto cuántos cuántas fueron tiene",
    "portuguese": "o os a as de do da dos das e é em que um uma por com para não se ao à na no nas nos como mais foi "
    "são ou qual quais quando quem onde quanto quantos você seu sua",
    "italian": "il lo la i gli le di del della dei delle e è che un una in per con non si nel nella al alla da sono "
    "come più quale quali quando chi dove quanto quanti perché ha dal",
    "catalan": "el la els les de del dels i és que un una en amb per no es al als va com més són o aquest aquesta "
    "quin quina quan qui quant on què pel",
    "romanian": "și în de la cu pe un o este că nu se din care pentru mai sunt al ale a fost ce cum când unde cine cât "
    "sau prin lui această",
    "dutch": "de het een en van in is dat op te voor met zijn niet aan er die om ook als wordt door bij naar uit "
    "wat hoe wie wanneer waar waarom welke kan ik wij je of deze worden",
    "swedish": "och i att det som en är på av för med till den inte har om ett de var från när hur vad vem vilken "
    "vilka varför kan jag vi eller så efter också mycket",
    "danish": "og i at det som en er på af for med til den ikke har om et de var fra når hvordan hvad hvem hvilken "
    "hvilke hvorfor hvor kan jeg vi eller så efter også meget blev",
    "norwegian": "og i at det som en er på av for med til den ikke har om et de var fra når hvordan hva hvem hvilken "
    "hvilke hvorfor hvor kan jeg vi eller så etter også mye ble",
    "finnish": "ja on ei että se oli joka hän mutta ovat kun niin myös tai sen kuin mitä mikä missä milloin miten kuka "
    "miksi voi minun olla ole tämä sekä",
    "hungarian": "a az és hogy nem is egy van ez volt de meg azt csak mint már vagy mi mit hol mikor hogyan ki miért "
    "kell lehet ha fel el",
    "turkish": "ve bir bu da de için ile olarak olan daha çok en gibi kadar ne nasıl kim nerede zaman neden hangi mi "
    "mı değil var ya sonra",
    "indonesian": "yang dan di dari ini itu dengan untuk tidak dalam pada adalah akan oleh ke sebagai apa bagaimana "
    "siapa kapan mana mengapa dapat saya kami atau juga telah",
    "lithuanian": "ir yra kad su iš į tai kaip bet ar buvo nuo už per jo kas kada kur kodėl kiek gali jis prie apie",
    "irish": "agus an na ar is tá go ag le do i sé bhí nach raibh leis mar chun seo sin céard conas cathain cá cé",
    "basque": "eta da ez bat du dira izan baina ere dela zen hau hori zer nola nor noiz non zergatik dute egin",
    "russian": "и в не на что с по как это он к из за от для его но то о был была были или при также которые который "
    "какой какая какие когда где кто почему сколько чем можно ли я мы вы",
    "serbian": "и у је да се на за са су од не као што који која из по је био како када где ко зашто или "
    "i u je da se na za sa su od ne kao što koji koja iz po bio kako kada gde ko zašto ili",
}

# By a text's first letters, for want of other evidence. Where Postgres knows several languages of a script it is the
# one that the others borrow from, identifiers in program code included. Chinese, Japanese, Korean and the like have no
# endings to take off; the words in Latin letters among them are mostly English.
_SCRIPTS = (
    ("a", "\u024f", "english"),
    ("\u0370", "\u03ff", "greek"),
    ("\u0400", "\u04ff", "russian"),
    ("\u0530", "\u058f", "armenian"),
    ("\u0600", "\u06ff", "arabic"),
    ("\u0900", "\u097f", "hindi"),
    ("\u0b80", "\u0bff", "tamil"),
    ("\u0e00", "\u0eff", "english"),
    ("\u1000", "\u109f", "english"),
    ("\u1780", "\u17ff", "english"),
    ("\u1e00", "\u1eff", "english"),
    ("\u3040", "\ud7a3", "english"),
)

_LANGUAGES_OF: dict[str, set[str]] = {}
for _language, _text in _FUNCTION_WORDS.items():
    for _word in _text.split():
        _LANGUAGES_OF.setdefault(_word, set()).add(_language)

_TAGS = {
    "ar": "arabic", "hy": "armenian", "eu": "basque", "ca": "catalan", "da": "danish", "nl": "dutch", "en": "english",
    "fi": "finnish", "fr": "french", "de": "german", "el": "greek", "hi": "hindi", "hu": "hungarian",
    "id": "indonesian", "ga": "irish", "it": "italian", "lt": "lithuanian", "ne": "nepali", "no": "norwegian",
    "nb": "norwegian", "nn": "norwegian", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian",
    "es": "spanish", "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
    "zh": "english", "ja": "english", "ko": "english", "th": "english",
}  # fmt: skip

LANGUAGES = tuple(sorted({*_TAGS.values(), SIMPLE}))
"""Every language there is: those that Postgres takes endings off in, and ``simple``."""

# Less is chance: a quotation, or program code that happens to say `var` and `for`.
_LEAST_SHARE = 0.08
_LEAST_WORDS = 2


def named(tag: str | None) -> str | None:
    """The language that a BCP 47 tag such as ``de`` or ``pt-BR`` names; ``simple`` for one that Postgres doesn't know.

    None without a tag.
    """
    if not tag:
        return None
    return _TAGS.get(tag.replace("_", "-").split("-")[0].lower(), SIMPLE)


def language_of(text: str) -> str:
    """The language of ``text`` by its commonest words, or else by its script; ``simple`` where neither tells."""
    counts = Counter(words(text[:_SAMPLE_CHARACTERS]))
    scripts: Counter[str] = Counter()
    shares: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for word, count in counts.items():
        scripts[_of_script(word)] += count if word[0].isalpha() else 0
        for language in _LANGUAGES_OF.get(word, ()):
            shares[language] += count
            kinds[language] += 1
    by_script = max(scripts, key=lambda language: (scripts[language], language), default=SIMPLE)
    best = max(shares, key=lambda language: (shares[language], language == by_script, language), default=by_script)
    enough = shares[best] >= _LEAST_SHARE * counts.total() and kinds[best] >= _LEAST_WORDS
    return best if enough else by_script


def _of_script(word: str) -> str:
    return next((language for low, high, language in _SCRIPTS if low <= word[0] <= high), SIMPLE)
