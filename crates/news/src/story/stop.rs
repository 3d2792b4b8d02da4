//! Words that are everywhere and say nothing about an event.
//!
//! * What this is: the commonest words of the languages most news are in, folded, one list for all.
//! * Its place: `gist` leaves them out, so that the first articles of a day, when it is not yet known
//!   which words are common, are not compared by them. It also guesses the language by them.

/// The words of a language, by its code.
pub(super) const COMMON: &[(&str, &str)] = &[
    (
        "en",
        "the of and to in a is that for it as was with be by on not he his but at are this have from or had an \
         they which you were her she him all their there been one has who will would when what more if no out so \
         said up its about than into them can only other new some could time these two may then do first any my \
         now such like our over also after says year years people last week day monday tuesday wednesday thursday \
         friday saturday sunday while where because before between during against through under most very just \
         we us did how being many those still both even according told news read since",
    ),
    (
        "de",
        "der die und in den von zu das mit sich des auf fur ist im dem nicht ein eine als auch es an werden aus er \
         hat dass sie nach wird bei einer um am sind noch wie einem uber einen so zum war haben nur oder aber vor \
         zur bis mehr durch man sein wurde sei hatte kann gegen vom schon wenn habe seine ihre dann unter wir soll \
         ich eines jahr zwei jahren diese dieser wieder keine uhr seiner worden will zwischen immer was sagte gibt \
         alle seit muss wurden beim doch jetzt waren drei ihr ihm ihn ohne ab damit da kein zwar selbst dabei rund \
         montag dienstag mittwoch donnerstag freitag samstag sonntag laut sagt mann tag neue neuen",
    ),
    (
        "fr",
        "de la le et les des en un du une que est pour qui dans a par plus pas au sur ne se ce il sont avec son \
         ont aux mais comme ou sa cette elle nous ses fait ete aussi leur bien deux ans etre apres meme entre \
         selon ainsi tout tous dont depuis sans encore contre lors avait ces leurs etait on peut cela vous annee \
         lundi mardi mercredi jeudi vendredi samedi dimanche si ils faire moins avant nouveau alors",
    ),
    (
        "es",
        "de la que el en y a los se del las un por con no una su para es al lo como mas o pero sus le ha me si sin \
         sobre este ya entre cuando todo esta ser son dos tambien fue habia era muy anos hasta desde han donde \
         quien durante contra uno ni ese otros segun tras anos ante ano parte lunes martes miercoles jueves \
         viernes sabado domingo porque esto eso estos estas dijo puede nos hay tiene solo mientras",
    ),
    (
        "it",
        "di e il la che in a per un del non con una sono da si le al i dei della nel piu lo alla anche come gli \
         ha ma delle o su dal ed se nella stato ai suo sua dalla anni dopo era essere stata questo fatto tra loro \
         due anno prima contro hanno lunedi martedi mercoledi giovedi venerdi sabato domenica dell degli quando",
    ),
    (
        "pt",
        "de a o que e do da em um para com nao uma os no se na por mais as dos como mas ao ele das seu sua ou quando \
         muito nos ja eu tambem so pelo pela ate isso ela entre depois sem mesmo aos seus foi anos ser tem sao sobre \
         disse ainda ano apos segundo contra segunda terca quarta quinta sexta feira",
    ),
    (
        "nl",
        "de van het een en in is dat op te zijn met voor niet aan er om ook als bij dan nog naar door maar die uit \
         wordt heeft over hij ze werd tot was worden hebben deze jaar meer kan geen al zich zegt moet wel dit hun \
         volgens maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
    ),
    (
        "pl",
        "w i na z do nie sie to jest ze o od po jak za przez dla ze oraz ale co byl sa tym tego juz tylko ma jego \
         ktory ktore ktora roku przed bardzo moze czy tak bez przy jako beda byla byly nad lat jej ich sie",
    ),
    (
        "cs",
        "a v na se je z ze to do i o s za ve si pro po jako by ale od k podle byl jsou byla jeho let roku pri pred \
         uz jen jeste nebo tak ktery ktera ktere bylo aby az rekl co jak jejich mezi dva bude ma proti",
    ),
    (
        "sv",
        "och i att det som en pa ar av for med till den har de inte om ett han men var jag sa fran vi nar efter \
         ska kan hon vid under eller ut blir mot enligt bara dar sig sager mer mycket varit over nu",
    ),
    (
        "tr",
        "ve bir bu da de icin ile olarak daha olan cok gibi sonra kadar ise en ancak her o ne var yeni oldu \
         olduğunu etti dedi buyuk iki gore yil",
    ),
    (
        "ru",
        "и в не на я что с он как это по но к из у за о от то его для так же все был до бы ее мы они только \
         которыи которые которая при после также была было были или еще уже если может года году этом этого том \
         чтобы более своеи свои этои об со время под без лет их том числе между ранее сообщил сообщает словам \
         понедельник вторник среду четверг пятницу субботу воскресенье который однако",
    ),
    (
        "uk",
        "і в не на що з як це до у та за від про його для так але був по із які який також під час буде було щоб \
         або року були їх вже якщо може після при",
    ),
    (
        "el",
        "και το να του η της με που την από για τα είναι των σε ο οι στο θα τη στην τον τους δεν τις ένα μια ότι \
         στη ως κατά αλλά έχει στον μετά όπως μας ή στις στα ήταν αυτό πριν δύο στους μία όταν",
    ),
    (
        "ar",
        "في من على ان الى التي عن مع هذا ما لا الذي هذه او بعد كان كل بين قال ذلك لم قد وقد وقال حيث كما قبل عند منذ \
         وفي كانت غير خلال يوم اليوم عام الذين وهو هو هي وان ومن اي حتي ايضا ضد",
    ),
    (
        "he",
        "של את על לא הוא זה עם כי גם כל אל או אם היא היה לו יותר בין רק הם אך אשר כדי אחרי עד מה יש זו לפי אבל כך",
    ),
    (
        "hi",
        "के में की है को से का और ने पर कि यह इस भी एक ही हैं लिए नहीं था कर तो थे थी गया रहा बाद अपने कहा जो हो साथ तक या हुए वह दिया",
    ),
];
