-- Whose archive a worker writes: who comes back to it takes the place of who wrote it before.
ALTER TABLE workers ADD COLUMN archive text NOT NULL DEFAULT '';
