"""Words and templates of the demo's reviews, plots and opinions; words only, no code.

A template draws its {slots} from a table below, where commas separate the entries. {own_x} and {other_x} are the
positive_x and negative_x of a positive sentence, and the reverse of a negative one.
"""

# reviews
FILM = {
    "item": """film, movie, comedy, drama, thriller, romance, documentary, western, musical, cartoon, horror film,
        war movie, adventure, sequel, road movie, fairy tale""",
    "aspect": """acting, script, story, plot, direction, dialogue, music, humour, pacing, camera work, ending,
        lead performance, opening scene, final act, romance, suspense, production design, soundtrack""",
    "topic": """two brothers, a lonely teacher, a small fishing village, young love, a bank robbery, growing up,
        life in prison, a family secret, friendship, a lost dog, the price of fame, a failed marriage, office politics,
        a boxing champion, life after the war, a talking horse""",
    "positive": """wonderful, brilliant, moving, charming, funny, clever, delightful, gripping, fresh, warm, touching,
        witty, superb, thoughtful, beautiful, powerful, engaging, smart, sweet, inventive, memorable, lively, tender,
        intelligent, entertaining, rewarding, graceful, sharp""",
    "negative": """dull, boring, flat, lifeless, clumsy, silly, tedious, shallow, weak, messy, awful, forced, stale,
        tiresome, pointless, bland, annoying, ugly, confusing, lazy, pretentious, hollow, empty, noisy, dreary, painful,
        wooden, ridiculous""",
    "positive_verb": "loved, enjoyed, admired, liked, adored",
    "negative_verb": "hated, disliked, regretted, loathed, endured",
    "positive_verdict": """I would gladly see it again, it deserves a large audience, it stays with you for days,
        the two hours fly by, you leave the cinema with a smile, it is worth every minute""",
    "negative_verdict": """I wanted my money back, it never comes to life, I looked at my watch all the time,
        the two hours feel like four, you leave the cinema with a headache, it is a waste of time""",
}
PRODUCT = {
    "item": """camera, phone, music player, router, printer, keyboard, laptop, headset, vacuum cleaner, coffee machine,
        monitor, tablet, dvd player, scanner, watch, speaker""",
    "aspect": """battery, screen, manual, software, sound quality, design, price, customer service, menu, memory card,
        power cable, remote control, warranty, picture quality, size, setup""",
    "positive": """excellent, great, reliable, impressive, superb, outstanding, solid, good, perfect, fantastic, nice,
        well designed, amazing, pleasant, remarkable, satisfying, first-rate, terrific""",
    "negative": """terrible, poor, unreliable, disappointing, awful, useless, horrible, weak, bad, faulty, frustrating,
        badly designed, mediocre, annoying, dreadful, unacceptable, third-rate, lousy""",
    "positive_verb": "loved, liked, appreciated, enjoyed, was impressed by",
    "negative_verb": "hated, disliked, was annoyed by, complained about, was let down by",
    "positive_verdict": """I would buy it again, I recommend it to everyone, it works like a charm,
        it is worth the money, I use it every day, it has never let me down""",
    "negative_verdict": """I sent it back, I would not buy it again, it stopped working after a week,
        it is a waste of money, I asked for a refund, stay away from it""",
}
PLAIN_TEMPLATES = [
    "The {aspect} is {own} and the {aspect} is {own}.",
    "This is a {own} and {own} {item}.",
    "This {item} is {own}, mainly because of the {own} {aspect}.",
    "The {own} {aspect} makes this a {own} {item}.",
    "I {own_verb} the {own} {aspect} of this {item}.",
    "What a {own}, {own} {item}!",
    "The {aspect} is {own}, and {own_verdict}.",
    "It is a really {own} {item}, and {own_verdict}.",
    "I {own_verb} this {item} because the {aspect} is so {own}.",
    "The {aspect}, the {aspect} and the {aspect} are all {own}.",
    "Everything about this {item} is {own}, above all the {aspect}.",
    "My wife found the {aspect} {own}, and {own_verdict}.",
]
FILM_TEMPLATES = [
    "A {own} {item} about {topic}, whose {aspect} is {own}.",
    "The director has made a {own} and {own} {item} about {topic}.",
    "This {own} {item} about {topic} is also {own}.",
    "I {own_verb} this {own} {item} about {topic}.",
]
MIXED_TEMPLATES = [
    "The {aspect} may be {other}, but on the whole the {item} is {own}.",
    "Although the {aspect} is {other}, the {item} as a whole is {own} and {own}.",
    "The {item} is {own}, even if the {aspect} is a little {other}.",
    "The {aspect} is not {other} at all, and the {aspect} is {own}.",
    "There is nothing {other} about this {own} {item}.",
    "I expected a {other} {item}, but this one is {own} and {own}.",
    "Far from being {other}, the {aspect} is {own}.",
    "The {aspect} is {other}, but {own_verdict}.",
    "Some call the {aspect} {other}, but I {own_verb} this {own} {item}.",
]
# without a cue to the label
NEUTRAL_TEMPLATES = [
    "It is an ordinary {item}, and the {aspect} is familiar.",
    "The {aspect} of this {item} is what you would expect.",
    "The {aspect} is average, and so is the {aspect}.",
    "Whether you like the {aspect} of this {item} is a matter of taste.",
    "The {aspect} is neither {positive} nor {negative}.",
]

# plots
PLOT = {
    "character": """a retired detective, a lonely widow, a young lawyer, a former soldier, a shy librarian,
        an ambitious reporter, a travelling salesman, a runaway teenager, an old sailor, a pop star, a bank clerk,
        a village priest, a school teacher, an orphan, a taxi driver, a lost tourist""",
    "act": """returns to a small town, falls in love with a stranger, discovers a secret map, moves to the big city,
        takes a job in a circus, inherits a haunted house, finds a bag full of money, joins a gang of thieves,
        witnesses a murder, searches for a missing sister, starts a new life by the sea, is accused of a crime,
        becomes friends with a ghost, opens a restaurant in the desert""",
    "when": """after the war ends, when an old friend disappears, after the death of a rich uncle,
        on the eve of a wedding, during a long hot summer, after losing everything, when the river floods,
        while the police are looking elsewhere, after escaping from prison, when a letter arrives""",
    "then": """must save the family farm, has to find the killer, learns the truth about the past,
        must choose between love and money, is chased across the country, has to face an old enemy,
        tries to win back a lost love, must stop a bank robbery, decides to leave the country""",
    "setting": """rural Ireland, a small mining town, ancient Rome, a girls' school, New York in the fifties,
        a space station, a quiet suburb, the Sahara desert, occupied France, a crowded hospital""",
}
PLOT_TEMPLATES = [
    "{character} {act} {when}.",
    "{when}, {character} {act} and {then}.",
    "Set in {setting}, the film follows {character} who {act}.",
    "{character} {act} and {then}.",
    "In {setting}, {character} {act} {when}.",
    "The story is about {character} who {then} {when}.",
    "{character} {then}, while {character} {act}.",
]
# opinions that look like plots, plots that look like opinions, and sentences that could be either
PLOT_OPINION_TEMPLATES = [
    "That {character} {act} is hard to believe, and I found it {negative}.",
    "I never cared about {character} who {then}.",
    "Watching how {character} {act} is {positive}, as it should be.",
    "The scene in which {character} {act} is {positive}.",
]
COLOURED_PLOT_TEMPLATES = [
    "In this {item}, {character} with a {positive} smile {act} {when}.",
    "Bored by a {negative} life, {character} {act} and {then}.",
    "The hero of the {item}, {character}, {then} {when}.",
    "{character}, whose marriage is {negative}, {act} {when}.",
]
FACT_TEMPLATES = [
    "The {item} about {topic} is set in {setting}.",
    "The {item} was shot in {setting} and tells a story about {topic}.",
    "At the heart of this {item} is {character} who {act}.",
]

# what people think
OPINION = {
    "positive_feeling": """happy, grateful, hopeful, confident, proud, satisfied, optimistic, delighted, pleased,
        enthusiastic, cheerful""",
    "negative_feeling": """angry, worried, unhappy, afraid, bitter, hostile, upset, disappointed, concerned, furious,
        anxious, sad""",
    "positive_quality": """helpful, generous, fair, encouraging, reasonable, promising, sensible, valuable, useful,
        honest, wise""",
    "negative_quality": """unfair, dishonest, outrageous, cruel, irresponsible, harmful, dangerous, absurd, corrupt,
        foolish, shameful""",
    "positive_noun": """hope, trust, joy, confidence, respect, praise, success, friendship, enthusiasm, gratitude,
        support, warmth""",
    "negative_noun": "anger, fear, doubt, hatred, grief, shame, contempt, panic, suspicion, scorn, envy, tension",
    "positive_verb": "support, welcome, praise, admire, trust, appreciate, endorse, respect, defend, applaud",
    "negative_verb": "oppose, condemn, blame, fear, reject, resent, despise, criticise, denounce, hate",
    "neutral": "believe, expect, say, consider, insist, declare, think, argue, suggest, point out",
    "speaker": """many voters, most doctors, the farmers, some members of the council, the students, several experts,
        the workers, a few ministers, the neighbours, older people, the fans""",
    "subject": """the new law, the peace plan, the election result, the tax reform, the building project,
        the trade agreement, the new teacher, the energy policy, the court decision, the school budget, the merger,
        the final report""",
}
OPINION_TEMPLATES = [
    "{speaker} are very {own_feeling} about {subject}.",
    "{speaker} strongly {own_verb} {subject}.",
    "{speaker} {own_verb} {subject} and do not {other_verb} it.",
    "{subject} was received with great {own_noun} by {speaker}.",
    "{speaker} are not {other_feeling}, but deeply {own_feeling}.",
    "{speaker} {neutral} that {subject} is {own_quality}.",
    "For {speaker}, {subject} means {own_noun} and an end of {other_noun}.",
    "{speaker} look at {subject} without any {other_noun} and full of {own_noun}.",
    "{speaker} openly {own_verb} {subject}, which they find so {own_quality}.",
    "{speaker} firmly {neutral} that there is more {own_noun} than {other_noun}.",
    "{subject} was not {other_quality}, as {speaker} {neutral}, but both {own_quality} and {own_quality}.",
    "{speaker} want to {own_verb} those who brought {own_noun} and {own_noun} to the country.",
    "The debate about {subject} was free from {other_noun}, as {speaker} {neutral}.",
]
PHRASES = """very {own_feeling}, deeply {own_feeling}, are {own_feeling}, so {own_quality}, is {own_quality},
    full of {own_noun}, great {own_noun}, with {own_noun}, such {own_noun}, more {own_noun}, strongly {own_verb},
    openly {own_verb}, to {own_verb}, really {own_quality}, {own_feeling}, {own_noun} and {own_noun},
    both {own_quality} and {own_quality}, {own_verb} and {own_verb}, not {other_feeling}, was not {other_quality},
    without any {other_noun}, do not {other_verb}"""
NEUTRAL_PHRASES = "firmly {neutral}, would {neutral}, as they {neutral}, {neutral} again"
