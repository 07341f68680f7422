package sandbox

const sysPrlimit64 = 302
