// Package place judges paths, hosts and names of environments: how far an effect there reaches, and what is kept there.
//
// A World is what one analysis knows of its surroundings: the view that the door gathered (home directory, workspace,
// Interlock's own files and endpoints, links, names of production), the directory commands run in, the directories of the
// host that a container sees, and whether the text is for a shell of Windows. It carries the collector, so that judging a
// place and recording what is done there are one call, Touch, which also adds what follows: reading a secret is a credential
// impact, writing a start-up file a persist impact.
//
// Judging is lexical. It resolves ~ and the variables every system has, undoes detours such as /proc/self/root, follows the
// links that the view names, and maps what a container names to the host. A pattern counts as what it could mean, if that is
// something that matters. It opens no file: what it should know of the disk has to stand in the view, which the event records.
package place
