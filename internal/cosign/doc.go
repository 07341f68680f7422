// Package cosign is a witness of logs, and what asks one: a witness signs beside the log that it has seen a head, and that the log
// goes on from what it saw before. So a log's key holder can't show different logs to different people, nor an earlier state,
// without a witness that helps. It speaks the protocols of C2SP: tlog-witness and tlog-cosignature (Ed25519, "cosignature/v1").
//
// Start with Request for what is asked, Witness for what is answered, and Ask for the side of the log.
package cosign
