-- One fortune by its number: {"id": 6}
-- param: id int
SELECT id, message FROM fortune WHERE id = @id;
