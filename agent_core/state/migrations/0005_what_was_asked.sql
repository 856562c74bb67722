-- What a call was made with besides its prompt and its messages, so that it can be rebuilt:
-- the model by the name that was asked (`model` is the name that answered), and how many tokens
-- the answer could have.
ALTER TABLE usage ADD COLUMN asked_model TEXT;
ALTER TABLE usage ADD COLUMN output_limit INTEGER;
