package classify

// A request for harm is a sentence that asks for something to be made, done or explained, and names what nobody is helped
// with: a verb, and behind it what it is done to; or, of what is made, the thing and behind it how it is made. Who asks how
// something is prevented, detected or treated is not meant, nor anyone who speaks of it without asking. The tables are short on
// purpose: what they do not name passes, and what they name in a sentence of this form is hardly ever harmless.

// An aim is one kind of harm: one of the verbs, and behind it, not far, one of the objects. In its lists every word stands between
// blanks, and two that belong together are joined by a line.
type aim struct {
	kind    string
	verbs   string
	objects string
	unless  string // words that make it harmless anywhere in the sentence
	reach   int    // words between them at most
	made    bool   // "how is it made" and "its synthesis" ask for it as well
	orders  bool   // a sentence that begins with one of the verbs asks
}

const (
	making = " make making build construct assemble create synthesize synthesise synthesizing produce producing manufacture " +
		"manufacturing prepare cook cooking recipe synthesis precursors blueprint blueprints schematics craft develop "
	ofPeople = " someone somebody person people neighbor neighbour wife husband spouse boss child children kid girlfriend " +
		"boyfriend ex coworker colleague teacher president politician politicians crowd family parents mother father roommate " +
		"woman man women human humans cop cops him her "
	ofOthers = " someone's somebody's neighbor's neighbour's ex's girlfriend's boyfriend's wife's husband's victim's person's " +
		"people's stranger's coworker's colleague's friend's "
	fiction = " game games novel story stories book movie film fiction character characters plot series play chess minecraft gta " +
		"sims roleplay podcast documentary "
)

var aims = [...]aim{
	{kind: "children", reach: 14, unless: " adult ",
		verbs:   " write create generate draw describe make show give send find download share produce ",
		objects: " child children minor minors underage toddler preteen schoolgirl schoolboy kid kids girl boy "},
	{kind: "weapons", reach: 8, orders: true,
		verbs:   making + "mix cultivate weaponize weaponise detonate plant building ",
		objects: " bomb bombs explosive explosives ied ieds dynamite molotov grenade grenades ",
		unless:  " bath logic zip fork seed photo glitter email cherry fusion calorie shelter squad game minecraft costume cake "},
	{kind: "weapons", reach: 8, made: true, orders: true,
		verbs: making + "mix cultivate culture grow weaponize weaponise aerosolize aerosolise disperse release obtain acquire purify " +
			"enrich instructions ",
		objects: " tatp petn rdx hmtd nitroglycerin napalm sarin soman tabun vx ricin anthrax botulinum novichok phosgene bioweapon " +
			"bioweapons mustard_gas nerve_agent nerve_agents nerve_gas poison_gas toxic_gas chemical_weapon chemical_weapons " +
			"biological_weapon biological_weapons dirty_bomb pipe_bomb nail_bomb ",
		unless: " game minecraft costume cake museum "},
	{kind: "weapons", reach: 8, orders: true,
		verbs: " make making build building print printing assemble convert ",
		objects: " weapon weapons firearm firearms silencer silencers ghost_gun ghost_guns untraceable_gun untraceable_guns " +
			"automatic_rifle ",
		unless: " game minecraft costume cosplay prop toy nerf water lego roblox rpg unity unreal class dnd "},
	{kind: "drugs", reach: 8, made: true, orders: true,
		verbs: making + "extract sell smuggle traffic buy purchase distribute instructions ",
		objects: " methamphetamine methamphetamines meth heroin cocaine fentanyl carfentanil mdma ghb lsd ecstasy krokodil mephedrone " +
			"nitazene nitazenes crystal_meth ",
		unless: " quit rehab test tests documentary recovery withdrawal overdose naloxone "},
	{kind: "violence", reach: 5,
		verbs: " kill killing murder murdering assassinate poison poisoning kidnap kidnapping abduct strangle torture dismember shoot " +
			"stab choke behead slay butcher butchering drown suffocate throttle eliminate terminating liquidating ",
		objects: ofPeople,
		unless: " process thread pid subprocess signal boss's dragon judo boxing email message photo text question jobs roles " +
			"contact " + fiction},
	{kind: "violence", reach: 6,
		verbs: " commit committing plan planning execute organize organise away ",
		objects: " murder murders assassination kidnapping massacre genocide terrorism lynching rape mass_shooting school_shooting " +
			"terrorist_attack terror_attack armed_robbery ",
		unless: " mystery show season episode thriller memorial exhibition museum " + fiction},
	{kind: "violence", reach: 5,
		verbs:   " blow bomb bombing ",
		objects: " hospital school church mosque synagogue stadium airport embassy house ",
		unless:  " whistle balloon balloons bubbles calorie hurricane wind storm tornado " + fiction},
	{kind: "violence", reach: 5, verbs: " hire find contact contract ", objects: " hitman assassin ", unless: " game movie film novel "},
	{kind: "trafficking", reach: 6, orders: true,
		verbs:   " sell traffic smuggle buy kidnap trafficking harvest ",
		objects: " organs humans slaves kidneys human_beings human_organs ",
		unless:  " music church museum "},
	{kind: "trafficking", reach: 3, orders: true,
		verbs:   " traffic trafficking smuggle smuggling ",
		objects: " people person women girls children child minors migrants immigrants refugees woman girl ",
		unless:  " road city car cars network website jam congestion street police "},
	{kind: "trafficking", reach: 8,
		verbs: " run start operate organize organise establish force forcing coerce lure recruit set ",
		objects: " human_trafficking sex_trafficking trafficking_ring smuggling_ring prostitution forced_labor forced_labour slavery " +
			"brothel ",
		unless: " awareness shelter charity campaign nonprofit historical century colonial " + fiction},
	{kind: "malware", reach: 8, orders: true,
		verbs: " write writing create creating make build code develop generate program script source design deploy spread release ",
		objects: " ransomware malware keylogger trojan spyware rootkit bootkit botnet infostealer stealer cryptolocker cryptojacker " +
			"wiper crypter computer_virus computer_worm logic_bomb malicious_code phishing_page phishing_site phishing_kit " +
			"phishing_email phishing_emails exploit_kit ddos_tool ",
		unless: " policy plan rule rules signature yara report essay article presentation training awareness scanner analysis sample " +
			"samples classifier dataset story novel talk document documentation summary guide lab sandbox simulation exercise " +
			"windshield blade "},
	{kind: "intrusion", reach: 5,
		verbs:   " hack break crack hijack hacking breaking stalk spy ",
		objects: ofOthers,
		unless:  " game bike door nose heart leg egg eggs "},
	{kind: "fraud", reach: 5,
		verbs:   " steal stealing rob robbing ",
		objects: " car wallet bank casino store jewelry house motorbike " + ofOthers,
		unless:  " heart base show thunder baseball poker look my tried " + fiction},
	{kind: "fraud", reach: 6,
		verbs:   " make print produce forge create launder clone manufacture making printing obtain buy get ",
		objects: " counterfeit fake_id fake_ids fake_passport fake_passports fake_money fake_currency card_skimmer ",
		unless:  " game board novel data test tests mock faker fixture fixtures seed "},
	{kind: "fraud", reach: 5,
		verbs:   " commit committing ",
		objects: " fraud identity_theft bank_fraud tax_fraud insurance_fraud arson burglary robbery ",
		unless:  " definition meaning " + fiction},
	{kind: "fraud", reach: 4, verbs: " launder laundering ", objects: " money cash ", unless: " report "},
	{kind: "fraud", reach: 5,
		verbs:   " forge clone ",
		objects: " passport passports id ids card cards cheque cheques check checks banknotes identity ",
		unless:  " git repo repository "},
	{kind: "fraud", reach: 4, verbs: " steal stealing ", objects: " identity identities "},
}

// done are words behind a thing that say that it is made; those who ask how ask for its making.
const done = " made synthesized synthesised cooked synthesis recipe "

// asking are words: a sentence that asks for something has one of them; a sentence that begins with a verb asks as well.
const asking = " how give tell show explain teach help want need instructions instruction steps step guide recipe tutorial ways way " +
	"provide write create generate describe make plan method methods can could would please let's where "

// protecting are words of those who ask for the opposite.
const protecting = " prevent protect detect avoid defend stop against prevention protection detection defense defence disposal " +
	"treat recognize recognise report removal remove antidote banned illegal history survive rescue combat fight law laws why " +
	"effects symptoms ethics safety addiction not never don't without_harm evacuate counter investigate "

// sexual are words for what is sexual.
const sexual = " sexual sex erotic erotica nude nudes naked porn pornographic pornography sexually explicit "
