"""Operations of the command line, performed by the gateway or directly on its database.

`perform` asks the gateway over its socket, which is quick. Without a gateway, it opens the database
itself and has to import the operation's code.
"""
