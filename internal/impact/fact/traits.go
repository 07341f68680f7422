package fact

func HasTrait(traits []string, want string) bool {
	for _, t := range traits {
		if t == want {
			return true
		}
	}
	return false
}

// TraitMalice marks prose that asks for an attack or for software made for one.
const TraitMalice = "malice"

// The danger an operation's name argues for under the MCP-AQL name patterns; a heuristic, which an explicit declaration
// by an operator suppresses.
const (
	TraitNamedDangerous = "named-dangerous" // the name has the form of a dangerous operation, e.g. purge_*
	TraitNamedForbidden = "named-forbidden" // the name has the form of a forbidden operation, e.g. drop_*
)

// Traits are the facts analysers establish beside an impact's kind, target and reach. Rules match on them, so a trait's
// meaning never changes; new facts get new traits.
const (
	// Why something is unknown or less certain.
	TraitUnparsable  = "unparsable"  // syntax error
	TraitOversize    = "oversize"    // over MaxInput
	TraitNested      = "nested"      // over a nesting or depth bound
	TraitEncoding    = "encoding"    // invalid UTF-8, NUL
	TraitWork        = "work"        // over the work bound
	TraitVague       = "vague"       // a sentence that names nothing
	TraitUnsupported = "unsupported" // no analyser for it
	TraitDynamic     = "dynamic"     // name or target computed at run time and not resolvable here
	TraitGlob        = "glob"        // target is a pattern
	TraitWrapper     = "wrapper"     // run through a wrapper that is not known

	// How it is done.
	TraitRecursive  = "recursive"  // whole trees
	TraitForce      = "force"      // checks or prompts are switched off
	TraitMoved      = "moved"      // taken from where it is to another place
	TraitOverwrite  = "overwrite"  // existing content is replaced
	TraitAppend     = "append"     // content is added
	TraitEncrypted  = "encrypted"  // it is made unreadable without a key
	TraitHostile    = "hostile"    // what is written would attack, open a door or send secrets away when it runs
	TraitContent    = "content"    // what is written is given in the action and is not empty
	TraitBulk       = "bulk"       // every row, object or item
	TraitDryRun     = "dry-run"    // the tool is told not to do it
	TraitElevated   = "elevated"   // as root or another user
	TraitRemote     = "remote"     // on another host, in a container or cluster
	TraitClimbing   = "climbing"   // an absolute path that leaves the directory it names first
	TraitObfuscated = "obfuscated" // hidden by encoding or spelling tricks
	TraitDecoded    = "decoded"    // the payload was decoded before it runs
	TraitInline     = "inline"     // code given as an argument to an interpreter
	TraitHooked     = "hooked"     // a program is made to run it, by a variable or a setting
	// the settings that lie there are obeyed, which may name commands, and nobody has seen them
	TraitObeyed     = "obeyed"
	TraitBackground = "background" // outlives the command
	TraitBomb       = "bomb"       // grows without bound
	TraitFilling    = "filling"    // a file grows until the disk is full
	TraitAttached   = "attached"   // a running program of somebody else's is taken hold of
	TraitRepeated   = "repeated"   // done over and over, or with content made by doing something over and over

	// What is touched.
	TraitRoot   = "root"   // the file system root, a home directory or a drive itself
	TraitDevice = "device" // a block device or raw memory
	TraitSecret = "secret" // a key, password or token store, or their content
	// what a service keeps about a person: health, whereabouts, means of payment, private messages
	TraitPersonal    = "personal"
	TraitEnvironment = "environment"    // the environment, which holds secrets
	TraitHistory     = "history"        // version control or shell history is lost or rewritten
	TraitUncommitted = "uncommitted"    // work that exists nowhere else
	TraitStartup     = "startup"        // a start-up file, scheduler, service or hook
	TraitAgentConfig = "agent-config"   // instructions or settings of a coding agent
	TraitAdvice      = "advice"         // an edit of a project's instructions to agents that speaks of nothing delicate
	TraitCI          = "ci"             // continuous-integration definitions
	TraitLog         = "log"            // logs or audit trails
	TraitDefence     = "defence"        // firewall, antivirus, sandbox, audit or update mechanisms
	TraitAccount     = "account"        // users, groups, passwords, permissions of people
	TraitBoot        = "boot"           // boot loader, kernel, firmware
	TraitBackup      = "backup"         // backups and snapshots
	TraitBreaking    = "breaking"       // what depends on it stops working, fails or has to wait
	TraitDatabase    = "database"       // rows, tables, databases
	TraitInfra       = "infrastructure" // cloud resources, clusters
	TraitPackage     = "package"        // software is installed or removed
	TraitAgents      = "agents"         // one agent of this house sends another something, or receives it, through Interlock
	TraitSelf        = "self"           // Interlock itself
	TraitSelfCopy    = "self-copy"      // Interlock's program gets another name

	// What flows where.
	TraitDownload     = "download"      // from a network to here
	TraitUpload       = "upload"        // from here to a network
	TraitDownloadRun  = "download-run"  // what was downloaded is executed
	TraitFetchedRun   = "fetched-run"   // what runs lies in a tree that was just fetched, or is told by a file in it what to do
	TraitRedirected   = "redirected"    // it goes where the same action has only just made it go
	TraitFetched      = "fetched"       // what is written came over a network, in this action or an earlier one
	TraitUnpacked     = "unpacked"      // an archive that did is unpacked there, under names that are not known
	TraitForeign      = "foreign"       // packages come from a place of somebody's own
	TraitSecretSend   = "secret-send"   // a secret goes to a network
	TraitReverseShell = "reverse-shell" // a shell is handed to a network peer
	TraitListen       = "listen"        // a port is opened
	TraitMetadata     = "metadata"      // a cloud metadata endpoint
	TraitPublish      = "publish"       // something becomes visible to others
	TraitInside       = "inside"        // the peer's name has no dot: a machine of the same network
	TraitStaging      = "staging"       // what it acts on has a name that the rules say is staging, and none that is production
	TraitForward      = "forward"       // traffic is tunnelled or forwarded
	TraitUnverified   = "unverified"    // nobody checks who the peer is
	TraitScan         = "scan"          // hosts or ports are probed
	TraitOutside      = "outside"       // what a file outside the workspace holds goes along
	// a script that the agent wrote lately is executed and was not read, for its language or size
	TraitUnread     = "unread"
	TraitWrittenRun = "written-run" // what was written is executed
	TraitPassword   = "password"    // a password is given along, on the command line or by a pipe
	TraitRecon      = "recon"       // accounts, rights, processes or connections of the machine are looked at
	TraitInjection  = "injection"   // input shaped to break out of its context
	// it says, of who does it or whom a message is from, somebody else than this user or an agent
	TraitImpersonation = "impersonation"
	TraitWords         = "words"   // a message that is nothing but words to a few people, all of it in the action
	TraitPlanned       = "planned" // prose announces it as a next step, which is judged when it is taken
	TraitNegated       = "negated" // prose says it will not be done
	// an amount of money that none can be: negative, beyond all there is, of no currency that is known or of two at once
	TraitWrongSum = "wrong-sum"
)
