"""Alembic runs this for every upgrade: on the connection it was given, in the transaction that is open there."""

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    version_table=context.config.get_main_option("version_table"),
    transactional_ddl=True,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
