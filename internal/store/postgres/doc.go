// Package postgres is where the store for many machines will be: the same contract as store/sqlite on PostgreSQL, with
// waiting commits batched into one statement and row versions compared in the UPDATE itself. Those who wait are
// told by LISTEN/NOTIFY: a commit notifies with the kinds it wrote, and Watch passes that on. It holds no code yet; the contract it
// must meet is store/storagetest.
package postgres
