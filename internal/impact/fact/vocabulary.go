package fact

// Traits lists every trait analysers may establish, so that a rule that waits for a misspelt one is found.
func Traits() []string {
	return []string{
		TraitUnparsable, TraitOversize, TraitNested, TraitEncoding, TraitWork, TraitVague, TraitUnsupported, TraitDynamic,
		TraitGlob, TraitWrapper,
		TraitRecursive, TraitForce, TraitOverwrite, TraitAppend, TraitBulk, TraitDryRun, TraitElevated,
		TraitRemote, TraitObfuscated,
		TraitDecoded, TraitInline, TraitBackground, TraitBomb, TraitFilling, TraitUnverified, TraitAttached,
		TraitRoot, TraitDevice, TraitSecret, TraitPersonal, TraitEnvironment, TraitHistory, TraitUncommitted, TraitStartup,
		TraitAgentConfig, TraitAdvice, TraitCI,
		TraitLog, TraitDefence, TraitAccount, TraitBoot, TraitBackup, TraitBreaking, TraitDatabase, TraitInfra, TraitPackage,
		TraitAgents, TraitImpersonation, TraitSelf, TraitSelfCopy,
		TraitDownload, TraitUpload, TraitDownloadRun, TraitFetchedRun, TraitFetched, TraitUnpacked, TraitForeign,
		TraitRedirected, TraitSecretSend,
		TraitReverseShell, TraitListen, TraitMetadata, TraitPublish,
		TraitForward, TraitWrongSum, TraitInside, TraitStaging, TraitScan, TraitOutside, TraitClimbing, TraitContent, TraitRepeated, TraitHooked,
		TraitObeyed, TraitEncrypted, TraitMoved, TraitWrittenRun, TraitUnread, TraitRecon, TraitPassword,
		TraitInjection, TraitNegated,
		TraitWords, TraitPlanned, TraitHostile,
		TraitNamedDangerous, TraitNamedForbidden, TraitMalice,
	}
}
