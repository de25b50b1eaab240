"""Word lists of the generated demo data (see `demo.py`); lists only, no code.

Inside a list "," separates the entries and "/" the synonyms of one entry: two wordings of the same meaning.
A trailing "*" marks a plural noun phrase. Actions are written "verb: objects".
"""

# The irregular verbs used below: base form -> (past, participle).
IRREGULAR = {
    "build": ("built", "built"), "buy": ("bought", "bought"), "catch": ("caught", "caught"),
    "cut": ("cut", "cut"), "dig": ("dug", "dug"), "eat": ("ate", "eaten"), "feed": ("fed", "fed"),
    "find": ("found", "found"), "forecast": ("forecast", "forecast"), "hit": ("hit", "hit"),
    "hold": ("held", "held"), "leave": ("left", "left"), "lose": ("lost", "lost"), "make": ("made", "made"),
    "meet": ("met", "met"), "read": ("read", "read"), "ride": ("rode", "ridden"), "sell": ("sold", "sold"),
    "shut": ("shut", "shut"), "strike": ("struck", "struck"), "teach": ("taught", "taught"),
    "throw": ("threw", "thrown"), "win": ("won", "won"), "write": ("wrote", "written"),
    "beat": ("beat", "beaten"), "draw": ("drew", "drawn"), "bring": ("brought", "brought"),
    "put": ("put", "put"), "tear": ("tore", "torn"),
}  # fmt: skip
# Verbs that double their last letter before -ed and -ing.
DOUBLED = "cut, dig, drop, grab, hit, put, shut, stir, stop, win"

# ------------------------------------------------------------------------------------------------ events
HUMAN_ADJECTIVES = (
    "young/youthful, tall, cheerful/happy, tired/weary, friendly/kind, busy, talented/gifted, "
    "hard-working/diligent, clever/smart, polite, famous/well-known, shy/timid"
)
HUMAN_MANNERS = (
    "carefully/with great care, quickly/rapidly/in a hurry, slowly/without haste, quietly/in silence, "
    "proudly/with pride, patiently/with patience, calmly, again/once more, alone/without any help"
)
TIMES_ANY = (
    "in the morning/early in the day, at noon/at midday, in the afternoon/after lunch, in the evening, "
    "at night/after dark, before dawn/before sunrise, at dusk/at sunset"
)
TIMES_PAST = (
    "yesterday, last week/a week ago, last month/a month ago, on Monday/at the start of the week, "
    "on Friday/at the end of the week, on Sunday, last summer/during the summer, "
    "last winter/during the winter, in April, two days ago/the day before yesterday"
)
OLD_TIMES = (
    "in 1820, in 1745, in 1612, in the Middle Ages/in medieval times, "
    "in the eighteenth century/in the 1700s, after the war/when the war was over, during the long war, "
    "before the revolution, in the same year, ten years later/a decade later"
)
LIFE_TIMES = (
    "in 1893, in 1926, in 1871, in the nineteenth century/in the 1800s, "
    "after the war/when the war was over, at the age of thirty, ten years later/a decade later, "
    "in the same year, in old age/late in life"
)
BUSINESS_TIMES = (
    "in March, in October, last week/a week ago, last year/a year ago, on Monday/at the start of the week, "
    "in the first quarter/in the first three months of the year, at the end of the year, yesterday, "
    "on Thursday"
)

# kind: "scene" can be seen in a photograph, "formal" is news, "past" is history, "static" is always true.
FRAMES = [
    {
        "domain": "cooking", "kind": "scene",
        "agents": "chef/cook, baker/pastry maker, kitchen helper/kitchen assistant, innkeeper/hotel owner, "
                  "housekeeper/maid, waiter/server, man/guy, woman/lady, boy/lad, girl",
        "adjectives": HUMAN_ADJECTIVES, "manners": HUMAN_MANNERS,
        "actions": [
            "peel: the potatoes*, the carrots*, the onions*, the oranges*, the cooked eggs*",
            "slice/cut up: the tomatoes*, a loaf of bread, the cucumbers*, the mushrooms*, a block of cheese",
            "prepare/make: a pot of soup/a pot of broth, a fresh salad, a chicken stew/a chicken casserole, "
            "some pancakes*, a bowl of noodles, a ham sandwich",
            "bake: a chocolate cake, some bread rolls*/some buns*, an apple pie/an apple tart, "
            "some cookies*/some biscuits*, a large pizza",
            "taste/sample/try: the tomato sauce, the spicy curry/the hot curry, the lemonade, the honey",
            "wash/rinse: the dishes*/the plates*, the frying pan/the skillet, the lettuce, the strawberries*",
            "serve/bring out: a warm meal/a hot meal, the dessert/the pudding, the grilled fish, "
            "a jug of milk",
            "mix/stir: the cake batter, the rice and beans*, the flour and butter*, the salad dressing",
        ],
        "places": "in the kitchen, in the restaurant/in the diner, at home/in the house, at the camp site, "
                  "in the school canteen/in the school cafeteria, in the hotel, "
                  "on the terrace/on the patio, in the little cafe/in the small coffee shop",
    },
    {
        "domain": "sports", "kind": "scene",
        "agents": "player/athlete, captain/team leader, goalkeeper/goalie, coach/trainer, teenager/teen, "
                  "striker/forward, boy/lad, girl, runner/sprinter, champion/title holder",
        "adjectives": HUMAN_ADJECTIVES,
        "manners": "quickly/rapidly/fast, slowly/without haste, proudly/with pride, calmly, "
                   "again/once more, easily/without difficulty, eagerly/with enthusiasm",
        "actions": [
            "throw/toss: the basketball, the frisbee, the tennis ball, the heavy javelin",
            "catch/grab: the baseball, the rugby ball, the water bottle, the relay baton",
            "kick/strike: the ball/the football, the goalpost, the punching bag",
            "win: the match/the game, the final, the silver cup/the silver trophy, the gold medal, the race",
            "lose: the match/the game, the race, the tournament/the competition, the first round",
            "lift/raise: the silver cup/the silver trophy, the heavy weights*, the team flag/the team banner",
            "celebrate: the victory/the win, the winning goal, the new record",
            "watch/observe: the training session/the practice, the opening ceremony, "
            "the opposing team/the other team, the referee",
            "sign: a team shirt/a team jersey, an autograph book, a new contract/a new agreement",
        ],
        "places": "in the stadium/in the arena, on the field/on the pitch, in the gym/in the sports hall, "
                  "at the sports club, in the park, on the tennis court, on the running track, "
                  "in front of the fans/in front of the supporters",
    },
    {
        "domain": "weather", "kind": "formal",
        "agents": "storm/tempest, hurricane/cyclone, blizzard/snowstorm, gale/windstorm, thunderstorm, "
                  "tornado/twister, hailstorm, flood/deluge",
        "adjectives": "violent/fierce, sudden/unexpected, powerful/mighty, dangerous, terrible/dreadful, "
                      "late, unusual/rare, long",
        "manners": "again/once more, within minutes/in a matter of minutes, for the second time, "
                   "without warning",
        "actions": [
            "damage: the roofs*, the old bridge, the power lines*, the harbour/the port, the crops*",
            "destroy/wreck: the fishing boats*, several houses*/several homes*, the wooden fence, "
            "the greenhouse",
            "block/obstruct: the main road/the main street, the railway tracks*, the mountain pass, "
            "the tunnel",
            "surprise/startle: the hikers*/the walkers*, the sailors*, the farmers*, "
            "the tourists*/the visitors*",
            "delay/hold up: the flights*/the planes*, the ferry, the building work/the construction work",
            "isolate/cut off: the coastal town, the mountain village, the rocky island, the valley",
        ],
        "places": "in the north/in the northern region, in the south/in the southern region, "
                  "near the border/close to the frontier, in the eastern province, on the west coast, "
                  "near the lake/close to the lake",
    },
    {
        "domain": "weather", "kind": "scene",
        "agents": "forecaster/weather expert, meteorologist/weather scientist, reporter/journalist, "
                  "farmer/grower, pilot/airman, teacher/schoolteacher, captain/skipper",
        "adjectives": HUMAN_ADJECTIVES, "manners": HUMAN_MANNERS,
        "actions": [
            "measure/record: the rainfall, the wind speed, the air temperature, the air pressure, "
            "the snow depth",
            "predict/forecast: heavy rain, a cold night, thick fog/dense fog, strong winds*, light snow",
            "check/inspect: the rain gauge, the thermometer, the weather map, the satellite images*",
            "discuss/talk about: the drought/the dry spell, the heat wave/the hot spell, the early frost, "
            "the grey clouds*/the gray clouds*",
            "photograph: the rainbow, the lightning, the frozen lake, the thunder clouds*",
        ],
        "places": "at the weather station, at the airport/at the airfield, in the mountains/in the hills, "
                  "on the coast/by the sea, in the capital/in the capital city, on the island, "
                  "in the village",
    },
    {
        "domain": "music", "kind": "scene",
        "agents": "singer/vocalist, pianist/piano player, violinist/violin player, guitarist/guitar player, "
                  "drummer, conductor/bandleader, composer/songwriter, musician, music student",
        "adjectives": HUMAN_ADJECTIVES + ", blind, experienced/seasoned", "manners": HUMAN_MANNERS,
        "actions": [
            "play/perform: a slow waltz, a new song/a new tune, a difficult symphony, a jazz piece, "
            "an old ballad",
            "record/tape: an album, a live concert/a live show, a film soundtrack, a gentle duet",
            "tune/adjust: the violin/the fiddle, the piano, the guitar, the harp",
            "write/compose: a love song, an opera, a military march, a lullaby",
            "teach/instruct: the children*/the kids*, the choir, a group of beginners/a group of novices",
            "repair/fix/mend: the broken flute, the microphone, the loudspeaker/the speaker, the drum kit",
            "thank: the audience/the crowd, the orchestra, the organisers*/the organizers*, "
            "the sound engineer",
            "clean/polish: the trumpet, the cello, the saxophone, the church organ",
        ],
        "places": "on the stage, in the concert hall/in the music hall, in the studio, at the festival, "
                  "in the chapel, at the music school/at the conservatory, in the jazz club, "
                  "in the theatre/in the playhouse",
    },
    {
        "domain": "transport", "kind": "scene",
        "agents": "driver/motorist, mechanic, taxi driver/cab driver, passenger/traveller, engineer, "
                  "cyclist/bike rider, police officer/cop, worker/labourer, conductor/ticket inspector",
        "adjectives": HUMAN_ADJECTIVES, "manners": HUMAN_MANNERS,
        "actions": [
            "repair/fix/mend: the bus, the car/the automobile, the bicycle/the bike, the truck/the lorry, "
            "the motorcycle/the motorbike, the diesel engine/the diesel motor",
            "park: the van, the rental car/the hire car, the scooter, the delivery truck/the delivery lorry",
            "clean/wash: the windscreen/the windshield, the train carriage/the railway car, the dirty tram",
            "paint: the old tram/the old streetcar, the road signs*, the iron gate",
            "stop/halt: the express train, the speeding car, the school bus, the ambulance",
            "push: the luggage trolley/the luggage cart, the wheelchair, the damaged car/the wrecked car",
            "inspect/check: the brakes*, the tyres*/the tires*, the tickets*, the fuel tank/the petrol tank",
            "unload: the wooden crates*/the wooden boxes*, the suitcases*, the steel pipes*, the mail bags*",
        ],
        "places": "at the railway station/at the train station, in the garage, "
                  "on the motorway/on the highway, at the crossroads/at the intersection, near the airport, "
                  "on the bridge, beside the road/by the roadside, outside the museum",
    },
    {
        "domain": "animals", "kind": "scene",
        "agents": "dog/hound, cat, fox, puppy/young dog, wolf, bear, badger, wild boar/wild pig, raccoon",
        "adjectives": "brown, black, small/little, hungry/starving, fast/swift, playful, large/big, "
                      "grey/gray, wet/soaked, nervous/anxious",
        "manners": "quickly/rapidly, quietly/without a sound, eagerly, suddenly/all of a sudden, happily, "
                   "for a long time/for a long while",
        "actions": [
            "chase/pursue: a rabbit/a hare, a squirrel, a butterfly, a flock of geese, a mouse",
            "watch/observe: the children*/the kids*, the birds*, the hunters*, the sheep*",
            "eat/devour: an apple, some berries*, the leftover bread, a piece of meat, the fallen pears*",
            "dig up/unearth: an old bone, some roots*, the flower bulbs*, a buried box",
            "carry: a stick/a branch, a dead fish, a leather glove, an empty bottle",
            "scare/frighten: the hens*/the chickens*, the goats*, the postman/the mail carrier, "
            "the cows*/the cattle*",
            "sniff/smell: the wet grass, the flowers*, the picnic basket, an old shoe/an old boot",
        ],
        "places": "in the garden/in the yard, in the forest/in the woods, on the farm, "
                  "near the river/by the river, in the snow, in the meadow/in the grassland, "
                  "behind the barn, along the fence",
    },
    {
        "domain": "animals", "kind": "scene",
        "agents": "eagle, owl, crow/raven, hawk/falcon, seagull/gull, stork, heron, magpie",
        "adjectives": "white, black, small/little, hungry/starving, large/big, young, patient, noisy/loud",
        "manners": "quickly/rapidly, quietly/without a sound, suddenly/all of a sudden, "
                   "patiently/with patience, again/once more",
        "actions": [
            "catch/grab: a silver fish, a field mouse, a tiny lizard, a frog/a toad, a snake",
            "build/make: a nest of twigs, a large nest/a big nest, a nest of mud",
            "feed: the chicks*/the young birds*, the hungry nestlings*",
            "circle: the tower, the pond, the fishing boat, the ruined castle",
            "drop: a shell, a dry branch, a stone/a pebble, a feather",
            "guard/protect: the eggs*, the nest, the hollow tree",
        ],
        "places": "near the lake/close to the lake, above the cliffs/over the cliffs, on the island, "
                  "in the marsh/in the swamp, along the coast/by the sea, near the old mill, "
                  "in the nature reserve",
    },
    {
        "domain": "everyday", "kind": "scene",
        "agents": "man/guy, woman/lady, boy/lad, girl, child/kid, teenager/teen, neighbour/neighbor, nurse, "
                  "tourist/visitor, soldier",
        "adjectives": HUMAN_ADJECTIVES + ", blond, thin/slim", "manners": HUMAN_MANNERS,
        "actions": [
            "read: a newspaper, a comic book, a long letter, a magazine, a map",
            "paint: a portrait, a wooden chair, the garden fence, a landscape",
            "carry: a red umbrella, a basket of fruit, a cardboard box, a pile of books/a stack of books",
            "ride: a horse/a pony, a skateboard, a camel, a tricycle",
            "fix/repair/mend: a kite, a fishing rod, a toy boat, a torn tent",
            "plant: some tulips*, a cherry tree, the vegetables*, some sunflower seeds*",
            "feed: the ducks*, the pigeons*/the doves*, a stray cat/a homeless cat, a baby goat",
            "fold: a blue blanket, a beach towel/a bath towel, a paper plane/a paper airplane, "
            "a yellow dress",
            "draw/sketch: a sailing boat, an old house, a sleeping dog, the mountains*",
        ],
        "places": "in the park, on the street, in the garden/in the backyard, on the beach/at the seaside, "
                  "in front of the house/outside the house, at the playground, by the lake/near the lake, "
                  "under a tree/beneath a tree",
    },
    {
        "domain": "city", "kind": "formal",
        "agents": "mayor, city council/town council, architect/building designer, planner/city planner, "
                  "developer/property developer, builder/building contractor, housing association",
        "adjectives": "local, ambitious/determined, powerful/influential, new, experienced/seasoned, "
                      "wealthy/rich",
        "manners": "finally/at last, at great cost/at great expense, with public money/with state funds, "
                   "after a long delay, for the second time, with the help of volunteers/with volunteer help",
        "actions": [
            "build/construct: a new library, a concrete bridge, a primary school/an elementary school, "
            "a tall tower/a high tower, a shopping centre/a shopping mall, a bus terminal",
            "restore/renovate: the old castle/the ancient fortress, the cathedral, "
            "the town hall/the city hall, the stone wall, the marble fountain",
            "open/inaugurate: the art museum/the art gallery, the metro line/the subway line, "
            "the botanical garden, the sports centre",
            "close/shut: the covered market, the old factory/the old plant, the swimming pool, the zoo",
            "widen/broaden: the main street/the main road, the narrow bridge, the canal, the bicycle path",
            "demolish/tear down: the empty warehouse, the old prison/the old jail, two apartment blocks*",
        ],
        "places": "in the city centre/in the downtown area, in the capital/in the capital city, "
                  "in the old town/in the historic quarter, near the river/on the riverbank, "
                  "in the suburbs/on the outskirts, in the northern district, "
                  "close to the harbour/near the port",
    },
    {
        "domain": "geography", "kind": "static",
        "agents": "river/stream, road/route, railway/train line, canal/waterway, path/trail, "
                  "highway/motorway, cycle track/bike trail, bus line",
        "adjectives": "long, narrow, winding/twisting, famous/well-known, important/major, "
                      "scenic/picturesque",
        "manners": "for many miles/over a long distance, for most of its length, directly",
        "actions": [
            "cross/traverse: the dry plain/the arid plain, the border/the frontier, the pine forest, "
            "the desert",
            "connect/link: the two cities*/the two towns*, the lake and the sea*, "
            "the port and the capital*, the eastern villages*",
            "border/skirt: the salt lake, the national park, the vineyards*, the swamps*/the marshes*",
            "separate/divide: the two provinces*/the two regions*, the hills and the coast*, the twin towns*",
            "serve: the farming region, the steel mill, the holiday resorts*, the mining towns*",
        ],
        "places": "in the north/in the northern part of the country, "
                  "in the south/in the southern part of the country, in the east of the island, "
                  "in central Europe, in western Africa, in South America, in the far west, "
                  "in the interior of the continent",
        "times": "today/nowadays, all year round/throughout the year, in the dry season/in the dry months",
    },
    {
        "domain": "history", "kind": "past",
        "agents": "king/monarch, queen, emperor, general/commander, duke/nobleman, prince, sultan, bishop",
        "adjectives": "powerful/mighty, young, ambitious, wise, cruel/brutal, famous/well-known, stubborn, "
                      "aged/elderly",
        "manners": "with the help of allies/with help from allies, at great cost/at a high price, "
                   "secretly/in secret, unexpectedly/to the surprise of everyone, without delay/at once, "
                   "reluctantly",
        "actions": [
            "found/establish: a university, a monastery/an abbey, a colony/a settlement, a royal academy",
            "conquer/capture: the walled city, the neighbouring kingdom, the fortress/the stronghold, "
            "the port",
            "sign: a peace treaty/a peace agreement, a trade treaty, a city charter, a royal decree",
            "defeat/beat: the invaders*/the invading army, the rebels*/the insurgents*, the enemy fleet, "
            "the knights*",
            "order/commission: a stone palace, a bronze statue, a fleet of ships, "
            "a marble temple/a marble shrine",
            "free/release: the prisoners*/the captives*, the slaves*, the captured soldiers*, the hostages*",
            "visit: the holy city, the distant provinces*, the silver mines*, the royal tombs*",
        ],
        "places": "in the east/in the eastern lands, in the south/in the southern lands, near the border, "
                  "across the sea/overseas, in the mountains, in the capital, on the peninsula",
        "times": OLD_TIMES,
    },
    {
        "domain": "biography", "kind": "past",
        "agents": "poet, writer/author, novelist, philosopher/thinker, painter/artist, historian, scholar, "
                  "playwright/dramatist, inventor",
        "adjectives": "young, famous/well-known, poor/penniless, French, German, Italian, Russian, English, "
                      "influential/important, unknown/obscure",
        "manners": "secretly/in secret, again/once more, reluctantly/with some regret, "
                   "briefly/for a short time, with the support of friends/with help from friends",
        "actions": [
            "publish/print: a book of poems/a poetry collection, a short novel, "
            "a travel diary/a travel journal, a book about art",
            "study: ancient languages*, law, Roman history, medicine, Greek sculpture",
            "meet: the young queen, a Swiss composer, the president, a wealthy widow/a rich widow",
            "receive/accept: a gold medal, a royal pension, the literature prize/the literary award",
            "criticise/condemn: the government, the church, the landowners*, the new law",
            "teach: mathematics, drawing, philosophy, modern history",
            "edit: a weekly newspaper, a political magazine, an encyclopedia, a dictionary",
        ],
        "places": "in Paris, in London, in Vienna, in Rome, in Berlin, "
                  "in a small village/in a little village, in Madrid, at the royal court",
        "times": LIFE_TIMES,
    },
    {
        "domain": "science", "kind": "lab",
        "agents": "scientist/researcher, chemist, biologist, physicist, engineer, professor/lecturer, "
                  "doctor/physician, student, research assistant/lab assistant",
        "adjectives": HUMAN_ADJECTIVES + ", brilliant/outstanding", "manners": HUMAN_MANNERS,
        "actions": [
            "discover/find: a new planet, a rare mineral, an unknown species, a tiny fossil, a strange virus",
            "measure: the speed of light, the mass of the sample, the water temperature, "
            "the electric current",
            "test/try out: a new vaccine, a solar panel, a small robot, a water filter, "
            "the new medicine/the new drug",
            "study/examine/investigate: the blood cells*, the soil, the distant stars*, "
            "the bacteria*/the germs*",
            "explain/describe: the theory, the experiment, the results*/the findings*, the law of gravity",
            "design/develop: a fast computer, an electric engine/an electric motor, a space probe, "
            "a telescope",
            "heat/warm up: the liquid/the fluid, the metal plate, the glass tube, the acid",
        ],
        "places": "in the laboratory/in the lab, at the university, "
                  "at the field station/at the research station, at the medical school, in Antarctica, "
                  "in the basement of the institute, in a desert camp",
    },
    {
        "domain": "business", "kind": "formal",
        "agents": "company/firm, bank, retailer/store chain, airline/air carrier, "
                  "publisher/publishing house, car maker/automobile manufacturer, investor, "
                  "insurance company/insurer, brewery",
        "adjectives": "large/big, foreign/overseas, local, successful/thriving, private, small, profitable, "
                      "struggling/troubled",
        "manners": "unexpectedly/to the surprise of analysts, again/once more, without warning, "
                   "after long talks/after long negotiations, for the second time, officially",
        "actions": [
            "buy/purchase/acquire: a rival company/a competitor, an office building, the patents*, "
            "a software house",
            "sell: the old warehouse, the food division/the food business, a large stake, the hotel chain",
            "hire/employ/recruit: fifty workers*/fifty employees*, a new director, several engineers*, "
            "a lawyer/an attorney",
            "cut/reduce/lower: the prices*, the wages*/the salaries*, the costs*, three hundred jobs*",
            "raise/increase: the prices*, the fees*/the charges*, the dividend, the profit forecast",
            "launch/introduce: an online shop/an online store, a cheap phone, a credit card, "
            "a loyalty scheme",
            "announce/report: a record profit, heavy losses*/big losses*, a merger, a new strategy",
            "close/shut down: two factories*/two plants*, the branch office, the call centre",
        ],
        "places": "in Asia, in Europe, in the capital, in Canada, in Brazil, in the home market, in Japan, "
                  "in the southern region",
        "times": BUSINESS_TIMES,
    },
    {
        "domain": "politics", "kind": "formal",
        "agents": "parliament/assembly, commission, minister/government minister, president/head of state, "
                  "senator, committee/panel, government/cabinet, ambassador/envoy, opposition party",
        "adjectives": "new, European, conservative, cautious/careful, liberal, outspoken, Greek, Dutch",
        "manners": "unexpectedly, again/once more, after a long debate/after a long discussion, "
                   "finally/at last, without hesitation, openly/in public",
        "actions": [
            "approve/adopt: the budget/the spending plan, the new law/the new legislation, "
            "the pension reform, the trade agreement/the trade deal",
            "reject/turn down: the proposal, the amendment, the request, the complaint, the tax plan",
            "discuss/debate: the crisis, the education policy, the energy prices*, the immigration rules*",
            "support/back: the peace process, the dairy farmers*, the small businesses*, "
            "the ceasefire/the truce",
            "criticise/condemn: the report, the court decision/the court ruling, the attack/the assault, "
            "the budget cuts*",
            "postpone/delay/put off: the vote/the ballot, the election, the summit, the visit",
        ],
        "places": "in Brussels, in Strasbourg, in the capital, in Geneva, in Lisbon, "
                  "at the press conference/at the news conference, at the annual meeting, in the upper house",
        "times": BUSINESS_TIMES,
    },
]  # fmt: skip

# Surface forms, drawn independently of the gold score: words around the event that carry none of its meaning.
OPENINGS = {
    "news": "according to the local paper/the paper reports that/reports say that/"
            "it was reported on the radio that/it is said that/we have learned that/as the report points out/"
            "a spokesman told the press that/people who were there say that/the record shows that",
    "caption": "in this picture/this is a picture in which/the photo shows how/here we can see how/"
               "in the background of the picture/you can see in this photo that/what we see is that",
    "forum": "I think that/I heard that/it seems that/someone told me that/I am fairly sure that/"
             "my friend says that/I read somewhere that/they say that/to be honest, I believe that/"
             "if I remember it right",
    "tweet": "breaking news:/just in:/update:/latest:/this just in:/"
             "read all about it:/in the news today:",
    "question": "does anyone know why/can you explain why/do you know why/could someone tell me why/"
                "any idea why/I would like to know why/what is the reason why/is there a good reason why",
}  # fmt: skip
OPENINGS_WITH_PAUSE = [
    "according to the local paper", "as the report points out", "in this picture",
    "in the background of the picture", "if I remember it right",
]  # fmt: skip
OPENING_SHARE = {"news": 0.45, "caption": 0.5, "forum": 0.85, "tweet": 0.7, "question": 1.0}

# ------------------------------------------------------------------------------------------------ STS sets
# year directory -> subset -> (style, domains it leans to; "" = all)
STS_SUBSETS = {
    "STS12": {
        "MSRpar": ("news", "business, politics, city"), "MSRvid": ("caption", ""),
        "SMTeuroparl": ("news", "politics"), "surprise.OnWN": ("definition", ""),
        "surprise.SMTnews": ("news", "business, weather, politics"),
    },
    "STS13": {
        "FNWN": ("definition", "cooking, music, science, transport"),
        "headlines": ("headline", "business, politics, sports, city, weather"), "OnWN": ("definition", ""),
    },
    "STS14": {
        "deft-forum": ("forum", ""), "deft-news": ("news", "politics, city, weather"),
        "headlines": ("headline", "business, politics, sports, city, weather"),
        "images": ("caption", "everyday, animals, sports, cooking"), "OnWN": ("definition", ""),
        "tweet-news": ("tweet", "sports, weather, politics, music"),
    },
    "STS15": {
        "answers-forums": ("forum", "cooking, transport, everyday, music"),
        "answers-students": ("news", "science, geography"), "belief": ("forum",
        "politics, business, science"),
        "headlines": ("headline", "business, politics, sports, city, weather"),
        "images": ("caption", "everyday, animals, sports, transport"),
    },
    "STS16": {
        "answer-answer": ("forum", "cooking, animals, transport, science"),
        "headlines": ("headline", "business, politics, sports, city, weather"),
        "plagiarism": ("news", "science, history, biography"), "postediting": ("news", ""),
        "question-question": ("question", ""),
    },
}  # fmt: skip

# ------------------------------------------------------------------------------------------------ reviews
FILM = {
    "item": "film, movie, comedy, drama, thriller, romance, documentary, western, musical, cartoon, "
            "horror film, war movie, adventure, sequel, road movie, fairy tale",
    "aspect": "acting, script, story, plot, direction, dialogue, music, humour, pacing, camera work, "
              "ending, lead performance, opening scene, final act, romance, suspense, production design, "
              "soundtrack",
    "topic": "two brothers, a lonely teacher, a small fishing village, young love, a bank robbery, "
             "growing up, life in prison, a family secret, friendship, a lost dog, the price of fame, "
             "a failed marriage, office politics, a boxing champion, life after the war, a talking horse",
    "positive": "wonderful, brilliant, moving, charming, funny, clever, delightful, gripping, fresh, warm, "
                "touching, witty, superb, thoughtful, beautiful, powerful, engaging, smart, sweet, "
                "inventive, memorable, lively, tender, intelligent, entertaining, rewarding, graceful, sharp",
    "negative": "dull, boring, flat, lifeless, clumsy, silly, tedious, shallow, weak, messy, awful, forced, "
                "stale, tiresome, pointless, bland, annoying, ugly, confusing, lazy, pretentious, hollow, "
                "empty, noisy, dreary, painful, wooden, ridiculous",
    "positive_verb": "loved, enjoyed, admired, liked, adored",
    "negative_verb": "hated, disliked, regretted, loathed, endured",
    "positive_verdict": "I would gladly see it again, it deserves a large audience, "
                        "it stays with you for days, the two hours fly by, "
                        "you leave the cinema with a smile, it is worth every minute",
    "negative_verdict": "I wanted my money back, it never comes to life, I looked at my watch all the time, "
                        "the two hours feel like four, you leave the cinema with a headache, "
                        "it is a waste of time",
}  # fmt: skip
PRODUCT = {
    "item": "camera, phone, music player, router, printer, keyboard, laptop, headset, vacuum cleaner, "
            "coffee machine, monitor, tablet, dvd player, scanner, watch, speaker",
    "aspect": "battery, screen, manual, software, sound quality, design, price, customer service, menu, "
              "memory card, power cable, remote control, warranty, picture quality, size, setup",
    "positive": "excellent, great, reliable, impressive, superb, outstanding, solid, good, perfect, "
                "fantastic, nice, well designed, amazing, pleasant, remarkable, satisfying, first-rate, "
                "terrific",
    "negative": "terrible, poor, unreliable, disappointing, awful, useless, horrible, weak, bad, faulty, "
                "frustrating, badly designed, mediocre, annoying, dreadful, unacceptable, third-rate, lousy",
    "positive_verb": "loved, liked, appreciated, enjoyed, was impressed by",
    "negative_verb": "hated, disliked, was annoyed by, complained about, was let down by",
    "positive_verdict": "I would buy it again, I recommend it to everyone, it works like a charm, "
                        "it is worth the money, I use it every day, it has never let me down",
    "negative_verdict": "I sent it back, I would not buy it again, it stopped working after a week, "
                        "it is a waste of money, I asked for a refund, stay away from it",
}  # fmt: skip
PLAIN_TEMPLATES = [
    "The {aspect} is {own} and the {aspect} is {own}.",
    "This is a {own} and {own} {item}.",
    "This {item} is {own}, mainly because of the {own} {aspect}.",
    "The {own} {aspect} makes this a {own} {item}.",
    "I {verb} the {own} {aspect} of this {item}.",
    "What a {own}, {own} {item}!",
    "The {aspect} is {own}, and {verdict}.",
    "It is a really {own} {item}, and {verdict}.",
    "I {verb} this {item} because the {aspect} is so {own}.",
    "The {aspect}, the {aspect} and the {aspect} are all {own}.",
    "Everything about this {item} is {own}, above all the {aspect}.",
    "My wife found the {aspect} {own}, and {verdict}.",
]
FILM_TEMPLATES = [
    "A {own} {item} about {topic}, whose {aspect} is {own}.",
    "The director has made a {own} and {own} {item} about {topic}.",
    "This {own} {item} about {topic} is also {own}.",
    "I {verb} this {own} {item} about {topic}.",
]
MIXED_TEMPLATES = [
    "The {aspect} may be {other}, but on the whole the {item} is {own}.",
    "Although the {aspect} is {other}, the {item} as a whole is {own} and {own}.",
    "The {item} is {own}, even if the {aspect} is a little {other}.",
    "The {aspect} is not {other} at all, and the {aspect} is {own}.",
    "There is nothing {other} about this {own} {item}.",
    "I expected a {other} {item}, but this one is {own} and {own}.",
    "Far from being {other}, the {aspect} is {own}.",
    "The {aspect} is {other}, but {verdict}.",
    "Some call the {aspect} {other}, but I {verb} this {own} {item}.",
]
NEUTRAL_TEMPLATES = [
    "It is an ordinary {item}, and the {aspect} is familiar.",
    "The {aspect} of this {item} is what you would expect.",
    "The {aspect} is average, and so is the {aspect}.",
    "Whether you like the {aspect} of this {item} is a matter of taste.",
    "The {aspect} is neither {positive} nor {negative}.",
]

# ------------------------------------------------------------------------------------------------ plots
PLOT = {
    "character": "a retired detective, a lonely widow, a young lawyer, a former soldier, a shy librarian, "
                 "an ambitious reporter, a travelling salesman, a runaway teenager, an old sailor, "
                 "a pop star, a bank clerk, a village priest, a school teacher, an orphan, a taxi driver, "
                 "a lost tourist",
    "act": "returns to a small town, falls in love with a stranger, discovers a secret map, "
           "moves to the big city, takes a job in a circus, inherits a haunted house, "
           "finds a bag full of money, joins a gang of thieves, witnesses a murder, "
           "searches for a missing sister, starts a new life by the sea, is accused of a crime, "
           "becomes friends with a ghost, opens a restaurant in the desert",
    "when": "after the war ends, when an old friend disappears, after the death of a rich uncle, "
            "on the eve of a wedding, during a long hot summer, after losing everything, "
            "when the river floods, while the police are looking elsewhere, after escaping from prison, "
            "when a letter arrives",
    "then": "must save the family farm, has to find the killer, learns the truth about the past, "
            "must choose between love and money, is chased across the country, has to face an old enemy, "
            "tries to win back a lost love, must stop a bank robbery, decides to leave the country",
    "setting": "rural Ireland, a small mining town, ancient Rome, a girls' school, New York in the fifties, "
               "a space station, a quiet suburb, the Sahara desert, occupied France, a crowded hospital",
}  # fmt: skip
PLOT_TEMPLATES = [
    "{character} {act} {when}.",
    "{when}, {character} {act} and {then}.",
    "Set in {setting}, the film follows {character} who {act}.",
    "{character} {act} and {then}.",
    "In {setting}, {character} {act} {when}.",
    "The story is about {character} who {then} {when}.",
    "{character} {then}, while {character} {act}.",
]
FACT_TEMPLATES = [
    "The {item} about {topic} is set in {setting}.",
    "The {item} was shot in {setting} and tells a story about {topic}.",
    "At the heart of this {item} is {character} who {act}.",
]

# Opinions that look like plots, and plots that look like opinions.
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

# ------------------------------------------------------------------------------------------------ opinions
OPINION = {
    "positive_feeling": "happy, grateful, hopeful, confident, proud, satisfied, optimistic, delighted, "
                        "pleased, enthusiastic, cheerful",
    "negative_feeling": "angry, worried, unhappy, afraid, bitter, hostile, upset, disappointed, concerned, "
                        "furious, anxious, sad",
    "positive_quality": "helpful, generous, fair, encouraging, reasonable, promising, sensible, valuable, "
                        "useful, honest, wise",
    "negative_quality": "unfair, dishonest, outrageous, cruel, irresponsible, harmful, dangerous, absurd, "
                        "corrupt, foolish, shameful",
    "positive_noun": "hope, trust, joy, confidence, respect, praise, success, friendship, enthusiasm, "
                     "gratitude, support, warmth",
    "negative_noun": "anger, fear, doubt, hatred, grief, shame, contempt, panic, suspicion, scorn, envy, "
                     "tension",
    "positive_verb": "support, welcome, praise, admire, trust, appreciate, endorse, respect, defend, applaud",
    "negative_verb": "oppose, condemn, blame, fear, reject, resent, despise, criticise, denounce, hate",
    "neutral": "believe, expect, say, consider, insist, declare, think, argue, suggest, point out",
    "speaker": "many voters, most doctors, the farmers, some members of the council, the students, "
               "several experts, the workers, a few ministers, the neighbours, older people, the fans",
    "subject": "the new law, the peace plan, the election result, the tax reform, the building project, "
               "the trade agreement, the new teacher, the energy policy, the court decision, "
               "the school budget, the merger, the final report",
}  # fmt: skip
PHRASES = [
    "very {own_feeling}", "deeply {own_feeling}", "are {own_feeling}", "so {own_quality}", "is {own_quality}",
    "full of {own_noun}", "great {own_noun}", "with {own_noun}", "such {own_noun}", "more {own_noun}",
    "strongly {own_verb}", "openly {own_verb}", "to {own_verb}", "really {own_quality}", "{own_feeling}",
    "{own_noun} and {own_noun}", "both {own_quality} and {own_quality}", "{own_verb} and {own_verb}",
    "not {other_feeling}", "was not {other_quality}", "without any {other_noun}", "do not {other_verb}",
]  # fmt: skip
NEUTRAL_PHRASES = ["firmly {neutral}", "would {neutral}", "as they {neutral}", "{neutral} again"]
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

# ------------------------------------------------------------------------------------------------ questions
QUESTION = {
    "abbr": "NASA, UNESCO, CNN, DNA, NATO, FBI, AIDS, IBM, BMW, RSPCA, LED, VIP, GPS, HTML, UFO, BBC",
    "long": "the United Nations, the European Union, chief executive officer, compact disc, miles per hour, "
            "the World Health Organization, personal computer, south by southwest",
    "term": "gravity, inflation, democracy, yoga, caffeine, fungus, insomnia, malaria, bronze, jazz, "
            "folklore, algebra, plankton, embargo",
    "concept": "gravity, jazz, inflation, a solar eclipse, photosynthesis, a fjord, democracy, an enzyme, "
               "malaria, acid rain, a mortgage, bronze, a comet, yoga, caffeine, a semiconductor, fungus, "
               "insomnia",
    "howto": "bake sourdough bread, remove an ink stain, tie a bow tie, tune a guitar, change a tyre, "
             "measure wind speed, write a will, grow tomatoes, train a puppy, make paper, peel a mango, "
             "open a bank account, build a nest box, clean a silver spoon",
    "why": "cats purr, leaves turn red, birds migrate, people yawn, stars twinkle, bees make honey, "
           "oceans taste salty, owls hunt at night, bridges vibrate, prices rise, volcanoes erupt, "
           "knees hurt",
    "phenomenon": "earthquakes, tides, hiccups, thunder, rainbows, fever, inflation, headaches, rust, fog, "
                  "avalanches, tornadoes",
    "country": "Norway, Brazil, Japan, Kenya, Canada, Portugal, Mongolia, Peru, Egypt, Austria, Finland, "
               "Thailand, Chile, Morocco, Poland, Vietnam, Greece, Cuba",
    "continent": "Africa, Asia, South America, Europe, Australia, North America",
    "city": "London, Vienna, Toronto, Madrid, Cairo, Sydney, Chicago, Moscow, Rome, Lima, Oslo, Nairobi",
    "invention": "the telescope, the steam engine, the bicycle, the light bulb, dynamite, the piano, "
                 "the printing press, the telephone, the zipper, the sewing machine, the parachute, "
                 "penicillin",
    "feat": "climbed Mount Everest, swam across the English Channel, flew around the world, "
            "reached the South Pole, walked on the moon, sailed to India, won two Nobel prizes, "
            "composed nine symphonies",
    "role": "king, president, prime minister, emperor, governor, foreign minister",
    "profession": "painter, writer, composer, explorer, actor, singer, scientist, general",
    "person": "Mozart, Napoleon, Shakespeare, Einstein, Cleopatra, Columbus, Chopin, Darwin, Gandhi, Picasso",
    "product": "running shoes, tennis rackets, sports cars, mobile phones, pianos, jet engines, toy trains, "
               "instant coffee, dog food, mountain bikes",
    "event": "the World Cup, the Olympic Games, the jazz festival, the film festival, the peace conference, "
             "the world chess championship, the car race, the book fair",
    "contest": "the World Cup, the football final, the world chess championship, the car race, "
               "the relay race, the rowing competition, the hockey league, the quiz show",
    "site": "the Eiffel Tower, the Taj Mahal, the Louvre, the Grand Canyon, the Great Barrier Reef, "
            "Lake Victoria, the Black Forest, the Gobi desert, Loch Ness, the Panama Canal, Mount Fuji, "
            "Alcatraz",
    "animal": "a cheetah, an ostrich, a horse, a polar bear, a dolphin, a kangaroo, an elephant, a falcon, "
              "a blue whale, a giraffe",
    "beast": "eats bamboo, sleeps upside down, carries its young in a pouch, lives the longest, "
             "has three hearts, runs the fastest, changes its colour, builds dams, "
             "has black and white stripes, never drinks water",
    "ingredient": "soy beans, goat milk, rye, maize, cocoa, almonds, grapes, rice, chickpeas, barley",
    "thing": "a sapphire, the flag of Japan, copper, an emerald, a polar bear's skin, the sun, saffron, "
             "cobalt, the planet Mars, a flamingo, an aubergine, the sky at noon",
    "gear": "a shuttlecock, a puck, a sabre, a pommel horse, a bat and a ball, a paddle, a net, "
            "a bow and arrows, skis and a rifle, a cue",
    "group": "players are in a rugby team, keys does a piano have, bones are in the human hand, "
             "strings has a violin, legs does a lobster have, moons does Jupiter have, "
             "states are in Mexico, teeth does an adult have, cards are in a deck, "
             "squares are on a chessboard, hours does a koala sleep, islands belong to Hawaii",
    "happening": "the Berlin Wall fall, the Titanic sink, the First World War begin, "
                 "the French Revolution start, the first train run, women get the vote in Finland, "
                 "the Great Fire of London start",
    "ware": "a ticket to the opera, a new truck, a barrel of oil, an ounce of gold, a grand piano, "
            "a night in a hotel, a litre of petrol, a dairy cow, a space suit",
    "task": "fly to the moon, boil an egg, cross the Atlantic by ship, learn to swim, digest a meal, "
            "build a house, run a marathon, heal a broken leg",
    "ENTY": "dish, festival, newspaper, bird, sport, song, flower, dance, soup, folk tale, insect, "
            "card game, disease, holiday",
    "HUM": "singer, painter, poet, football club, family, politician, actress, chess player, criminal, "
           "orchestra, inventor, bank, boxer, queen",
    "LOC": "city, lake, mountain, beach, street, island, valley, castle, waterfall, palace, village, cave, "
           "bridge, harbour",
    "NUM": "date, year, price, distance, phone number, age, temperature, percentage, speed, population, "
           "salary, size, weight, length",
    "topic": "football, old castles, the weather, folk music, the royal family, wild birds, the economy, "
             "sea travel, painting, the railway, modern art, cheese, the moon, public schools",
}  # fmt: skip
QUESTION_PREFIXES = (
    "please tell me:, my teacher asked us:, here is a question for you:, quick question:, the quiz asked:, "
    "my son wants to know:, one more thing:, a reader asks:, who can help me:, just out of interest:"
)
# Questions whose class only the head noun tells, and questions that could be of any class.
HEAD_TEMPLATES = [
    "Which {head} do people in {city} talk about?", "What {head} is linked with {person}?",
    "What is the best known {head} in {country}?", "What {head} did the guide in {city} mention?",
    "Which {head} does the book about {country} begin with?",
]  # fmt: skip
VAGUE_TEMPLATES = ["What do you know about {topic} in {country}?", "What should I ask about {topic}?"]
# coarse:fine -> templates; most begin with "what" or "which", so the first word does not give the class away
QUESTION_TEMPLATES = {
    "ABBR:exp": ["What does {abbr} stand for?", "What is the full form of {abbr}?",
                 "What does the abbreviation {abbr} mean?"],
    "ABBR:abb": ["What is the abbreviation for {long}?", "What is the short form of {long}?"],
    "DESC:def": ["What is {concept}?", "What does the word {term} mean?", "How would you define {concept}?"],
    "DESC:manner": ["How do you {howto}?", "What is the best way to {howto}?", "How can I {howto} at home?"],
    "DESC:reason": ["Why do {why}?", "What causes {phenomenon}?", "What is the reason that {why}?",
                    "What makes people afraid of {phenomenon}?"],
    "DESC:desc": ["What is {person} known for?", "What was it like to live in {city}?"],
    "ENTY:animal": ["What animal {beast}?", "Which kind of animal {beast}?"],
    "ENTY:food": ["What food is made from {ingredient}?", "What drink can be made from {ingredient}?"],
    "ENTY:color": ["What colour is {thing}?"],
    "ENTY:sport": ["What sport is played with {gear}?", "Which game uses {gear}?"],
    "ENTY:lang": ["What language is spoken in {country}?", "Which languages do people speak in {country}?"],
    "ENTY:currency": ["What currency is used in {country}?",
                      "What is the name of the money used in {country}?"],
    "ENTY:cremat": ["What is the most famous work of {person}?", "Which film about {person} won a prize?"],
    "HUM:ind": ["Who invented {invention}?", "Which {profession} {feat}?",
                "Who was the first person who {feat}?",
                "Who was the first {role} of {country}?", "What is the name of the {profession} who {feat}?",
                "What {profession} was born in {city}?", "What is the name of the {role} of {country}?"],
    "HUM:gr": ["What company makes {product}?", "Which firm sells the most {product}?",
               "Which team won {contest} in {city}?"],
    "LOC:city": ["What is the capital of {country}?", "What city hosts {event}?",
                 "In which town was {person} born?"],
    "LOC:country": ["What country borders {country}?", "Which country was the home of {person}?",
                    "In what country is {site}?"],
    "LOC:mount": ["What is the highest mountain in {country}?", "Which is the highest peak in {continent}?"],
    "LOC:other": ["Where is {site}?", "Where was {person} buried?",
                  "What is the largest lake in {continent}?",
                  "What river flows through {city}?", "Where can I see {site}?"],
    "NUM:count": ["How many {group}?", "What is the number of people who live in {city}?",
                  "How many people live in {country}?"],
    "NUM:date": ["When was {invention} invented?", "In what year did {happening}?",
                 "What was the date of birth of {person}?",
                 "When did {happening}?"],
    "NUM:dist": ["How far is {city} from {city}?", "What is the distance between {city} and {city}?"],
    "NUM:money": ["How much does {ware} cost?", "What is the price of {ware}?"],
    "NUM:speed": ["How fast can {animal} move?", "What is the top speed of {animal}?"],
    "NUM:weight": ["How heavy is {animal}?", "What is the average weight of {animal}?"],
    "NUM:period": ["How long does it take to {task}?", "What is the time needed to {task}?"],
}  # fmt: skip
