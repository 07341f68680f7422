-- Version 8 of the store: applied once after version 7.

-- Grants and suppressions are rows of one kind, order. Their bodies are written anew by the program, which knows both forms.
SELECT 1;
