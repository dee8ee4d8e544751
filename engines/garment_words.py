"""Names by which callers call the kinds of garment.

Written without accents, in the singular or the plural: `engines.kind_folding` folds both sides. A kind's own name
is always one of its names. Words that name different garments in different places
stand with the kind that is meant most often (``pants`` are trousers, a ``vest`` is a waistcoat), or nowhere.
"""

from __future__ import annotations

from engines.garment_kinds import GarmentKind as Kind

ENGLISH = {
    Kind.T_SHIRT: "t-shirt, tshirt, tee, tee shirt, henley, graphic tee, football jersey, soccer jersey",
    Kind.SHIRT: "shirt, overshirt, button down, button up, oxford, flannel, chambray",
    Kind.BLOUSE: "blouse, choli, peplum top, wrap top",
    Kind.POLO_SHIRT: "polo shirt, polo, rugby shirt, golf shirt",
    Kind.TANK_TOP: "tank top, tank, singlet, camisole, cami, cami top, vest top, halter top, halterneck top, "
    "undershirt, strappy top, sleeveless top, muscle tee, basketball jersey",
    Kind.CROP_TOP: "crop top, cropped top, bralette, sports bra, tube top, bandeau, bandeau top, bustier",
    Kind.BODYSUIT: "bodysuit, body suit, leotard",
    Kind.TUNIC: "tunic, tunic top",
    Kind.KURTA: "kurta, kurti, kurta top, kameez, kurta pyjama, kurta pajama",
    Kind.SWEATER: "sweater, jumper, pullover, pull over, jersey, turtleneck, polo neck, roll neck, knitwear, "
    "sweater vest, knitted top, knit top",
    Kind.SWEATSHIRT: "sweatshirt, sweat shirt, crewneck",
    Kind.HOODIE: "hoodie, hoody, hooded sweatshirt, hooded sweater, hooded top, zip up hoodie",
    Kind.CARDIGAN: "cardigan, cardi",
    Kind.WAISTCOAT: "waistcoat, vest, gilet, bodywarmer, body warmer",
    Kind.BLAZER: "blazer, suit jacket, sport coat, sports coat, sport jacket, tuxedo jacket, dinner jacket",
    Kind.JACKET: "jacket, bomber, windbreaker, anorak, puffer, shacket, fleece, jean jacket",
    Kind.COAT: "coat, overcoat, raincoat, topcoat, trench, trench coat, parka, peacoat, mackintosh, duster, sherwani",
    Kind.CAPE: "cape, poncho, cloak, shawl, wrap",
    Kind.JEANS: "jean, jeans, denim, denims, mom jeans, jegging",
    Kind.TROUSERS: "trouser, pant, slack, culotte, cargo, palazzo, salwar, shalwar, corduroys, capri, "
    "bell bottoms, bottoms",
    Kind.CHINOS: "chino, chino pants, chino trousers, khakis",
    Kind.LEGGINGS: "legging, tights, yoga pants, running tights",
    Kind.JOGGERS: "jogger, jogging bottoms, jogger pants, sweatpant, sweat pants, trackpant, track pants, "
    "tracksuit bottoms, tracksuit pants, tracksuit trousers, jogging pants",
    Kind.SHORTS: "shorts, short, bermuda, hotpants, hot pants, swim trunks, board shorts, boxers",
    Kind.SKIRT: "skirt, miniskirt, kilt, sarong, skort, petticoat, lungi",
    Kind.DRESS: "dress, gown, frock, sundress, minidress, nightdress, nightgown, nightshirt, pinafore, kaftan, caftan, "
    "robe, bathrobe, dressing gown, cheongsam, qipao, anarkali",
    Kind.JUMPSUIT: "jumpsuit, jump suit, catsuit, cat suit, boilersuit, boiler suit, onesie, unitard",
    Kind.ROMPER: "romper, romper suit, playsuit, play suit",
    Kind.DUNGAREES: "dungaree, overall, bib overalls",
    Kind.SUIT: "suit, pantsuit, pant suit, trouser suit, tuxedo, three piece suit",
    Kind.TRACKSUIT: "tracksuit, track suit, shell suit",
    Kind.PYJAMAS: "pyjama, pajama, pjs, pyjama set, pajama set",
    Kind.SAREE: "saree, sari",
    Kind.LEHENGA: "lehenga, lehnga, lehenga choli, ghagra, ghagra choli",
    Kind.ABAYA: "abaya, jilbab, thobe, thawb, djellaba",
    Kind.SWIMSUIT: "swimsuit, swim suit, bathing suit, bikini, bikini top, bikini bottom, swimming costume, tankini, "
    "swimwear, one piece swimsuit",
}

GERMAN = {
    Kind.SHIRT: "hemd, oberhemd",
    Kind.BLOUSE: "bluse, blusen",
    Kind.POLO_SHIRT: "poloshirt",
    Kind.TANK_TOP: "unterhemd, tragertop, traegertop, tanktop",
    Kind.CROP_TOP: "croptop, bauchfreies top",
    Kind.TUNIC: "tunika",
    Kind.SWEATER: "pulli, strickpulli, rollkragenpullover",
    Kind.HOODIE: "kapuzenpullover, kapuzenpulli, kapuzensweatshirt",
    Kind.CARDIGAN: "strickjacke",
    Kind.WAISTCOAT: "weste",
    Kind.BLAZER: "sakko, jackett",
    Kind.JACKET: "jacke",
    Kind.COAT: "mantel, maentel",
    Kind.CAPE: "umhang",
    Kind.JEANS: "jeanshose",
    Kind.TROUSERS: "hose, lange hose",
    Kind.CHINOS: "chinohose",
    Kind.LEGGINGS: "strumpfhose",
    Kind.JOGGERS: "jogginghose, sporthose, trainingshose",
    Kind.SHORTS: "kurze hose, badehose",
    Kind.SKIRT: "rock, roecke, rocke",
    Kind.DRESS: "kleid, kleider, nachthemd",
    Kind.JUMPSUIT: "hosenanzug, einteiler",
    Kind.DUNGAREES: "latzhose",
    Kind.SUIT: "anzug, anzuege, anzuge",
    Kind.TRACKSUIT: "trainingsanzug, jogginganzug",
    Kind.PYJAMAS: "schlafanzug",
    Kind.SWIMSUIT: "badeanzug",
}

FRENCH = {
    Kind.T_SHIRT: "maillot de corps",
    Kind.SHIRT: "chemise",
    Kind.BLOUSE: "chemisier, corsage",
    Kind.TANK_TOP: "debardeur, caraco",
    Kind.TUNIC: "tunique",
    Kind.SWEATER: "pull, chandail, pull a col roule",
    Kind.SWEATSHIRT: "sweat",
    Kind.HOODIE: "sweat a capuche, pull a capuche",
    Kind.WAISTCOAT: "gilet de costume, gilet sans manches",
    Kind.BLAZER: "veste de costume, veste de tailleur",
    Kind.JACKET: "veste, blouson, doudoune",
    Kind.COAT: "manteau, manteaux, impermeable",
    Kind.TROUSERS: "pantalon",
    Kind.CHINOS: "pantalon chino",
    Kind.JEANS: "pantalon en jean",
    Kind.JOGGERS: "pantalon de survetement, bas de survetement, pantalon de jogging, bas de jogging",
    Kind.SHORTS: "pantalon court, pantacourt",
    Kind.SKIRT: "jupe, jupe culotte",
    Kind.DRESS: "robe chemise, robe pull, robe longue, robe de soiree, robe de chambre, chemise de nuit",
    Kind.JUMPSUIT: "combinaison, combinaison pantalon",
    Kind.ROMPER: "combishort, combinaison short",
    Kind.DUNGAREES: "salopette",
    Kind.SUIT: "tailleur",
    Kind.TRACKSUIT: "survetement",
    Kind.SWIMSUIT: "maillot de bain",
}

SPANISH = {
    Kind.T_SHIRT: "camiseta, playera",
    Kind.SHIRT: "camisa",
    Kind.BLOUSE: "blusa",
    Kind.TANK_TOP: "camiseta de tirantes, camiseta sin mangas",
    Kind.TUNIC: "tunica",
    Kind.SWEATER: "sueter",
    Kind.SWEATSHIRT: "sudadera",
    Kind.HOODIE: "sudadera con capucha",
    Kind.WAISTCOAT: "chaleco",
    Kind.BLAZER: "chaqueta de traje",
    Kind.JACKET: "chaqueta, cazadora",
    Kind.COAT: "abrigo, gabardina",
    Kind.JEANS: "vaqueros, tejanos, pantalon vaquero, pantalones vaqueros",
    Kind.TROUSERS: "pantalones",
    Kind.LEGGINGS: "mallas",
    Kind.JOGGERS: "pantalon de chandal",
    Kind.SHORTS: "pantalon corto, pantalones cortos",
    Kind.SKIRT: "falda, falda pantalon, minifalda",
    Kind.DRESS: "vestido",
    Kind.DUNGAREES: "peto vaquero",
    Kind.SUIT: "traje",
    Kind.TRACKSUIT: "chandal",
    Kind.PYJAMAS: "pijama",
    Kind.SWIMSUIT: "banador, traje de bano",
}

ITALIAN = {
    Kind.T_SHIRT: "maglietta, magliette",
    Kind.SHIRT: "camicia, camicie",
    Kind.BLOUSE: "camicetta, camicette",
    Kind.TANK_TOP: "canottiera, canotta",
    Kind.SWEATER: "maglione, maglioni",
    Kind.SWEATSHIRT: "felpa, felpe",
    Kind.HOODIE: "felpa con cappuccio",
    Kind.BLAZER: "giacca da abito",
    Kind.JACKET: "giacca, giacche, giubbotto, giubbino",
    Kind.COAT: "cappotto, cappotti, impermeabile",
    Kind.TROUSERS: "pantaloni, pantalone",
    Kind.SHORTS: "pantaloncini, pantaloni corti",
    Kind.SKIRT: "gonna, gonne, minigonna",
    Kind.DRESS: "vestito, vestiti, abito da sera",
    Kind.JUMPSUIT: "tuta intera",
    Kind.SWIMSUIT: "costume da bagno",
}

HEAD_LAST = (ENGLISH, GERMAN)
"""Languages that put the noun behind its modifiers: a shirt dress is a dress."""

HEAD_FIRST = (FRENCH, SPANISH, ITALIAN)
"""Languages that put it before them: a *chaqueta vaquera* is a jacket."""

COMPOUNDS = {
    "kleid": Kind.DRESS,
    "hose": Kind.TROUSERS,
    "jacke": Kind.JACKET,
    "mantel": Kind.COAT,
    "rock": Kind.SKIRT,
    "hemd": Kind.SHIRT,
    "bluse": Kind.BLOUSE,
    "pullover": Kind.SWEATER,
    "weste": Kind.WAISTCOAT,
    "anzug": Kind.SUIT,
    "shirt": Kind.SHIRT,
    "dress": Kind.DRESS,
    "skirt": Kind.SKIRT,
    "coat": Kind.COAT,
    "jacket": Kind.JACKET,
    "jean": Kind.JEANS,
    "pant": Kind.TROUSERS,
    "legging": Kind.LEGGINGS,
    "trouser": Kind.TROUSERS,
    "short": Kind.SHORTS,
    "skort": Kind.SKIRT,
    "gown": Kind.DRESS,
    "jumpsuit": Kind.JUMPSUIT,
}
"""Last parts of words written in one, e.g. *Sommerkleid*, *Lederjacke*, *maxiskirt*."""

NO_KIND = "top, set, outfit, co ord"
"""Nouns that are too general for a kind; a *denim top* is not a pair of jeans."""

MODIFIERS = "denim, cargo, corduroys, khakis, wrap, short, flannel, oxford, chambray"
"""Names that count only where no other word follows: a *denim kimono* is not a pair of jeans."""

DETAILS = "short sleeve, short sleeved, pull on, shirt collar"
"""Words that sound like a garment and name a part of one."""

PREPOSITIONS = (
    "with, without, in, for, from, of, by, mit, ohne, aus, fur, fuer, avec, sans, en, de, pour, con, sin, para, "
    "di, da, per"
)
"""The words after one of these describe the garment named before it."""

CONJUNCTIONS = "and, und, et, or, oder, ou"
"""Words between two names; the last known name counts."""
