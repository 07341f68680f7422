# Commands of database clients that nobody is asked about, one a line.
\d users
\dt
.tables
.schema users
.headers on
.mode column
\copy t from 'data.csv' csv header
\copy (select * from t) to 'out.csv' csv
.import data.csv t
.output out.txt
.dump
\q
\timing on
\x
\c app
\i schema.sql
.read schema.sql
