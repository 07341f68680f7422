package sandbox

const sysPrlimit64 = 261
