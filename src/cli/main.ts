/** Creates the commands of the command line, runs a command, and converts errors to messages and exit codes. */
import { Command, CommanderError } from 'commander'
import { version } from '../api/version.ts'
import { withoutAliases } from './configuration.ts'
import { errorText } from './error-text.ts'
import { Exit } from './exit.ts'

/**
 * The subcommands. A subcommand is imported only if the command line needs this subcommand. The import of all subcommands would load most
 * of this package.
 */
const commands = {
  dev: async () => (await import('./dev.ts')).devCommand(),
  run: async () => (await import('./run.ts')).runCommand(),
  validate: async () => (await import('./validate.ts')).validateCommand(),
  generate: async () => (await import('./generate.ts')).generateCommand(),
  certs: async () => (await import('./certs.ts')).certsCommand(),
}

type CommandName = keyof typeof commands

const commandNames = Object.keys(commands) as readonly CommandName[]

/** Creates the command `proreus` with the subcommands `names`. Default: all subcommands. */
export async function createProgram(names: readonly CommandName[] = commandNames): Promise<Command> {
  const program = new Command('proreus')
    .description('A Kubernetes operator server: admission webhooks, controllers and their certificates in one process.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show this help')
    .addHelpText(
      'after',
      '\nFlags come before environment variables, those before the configuration file, that before the defaults.\nDocumentation: README.md and docs/ in the package.',
    )
    .showHelpAfterError(helpHint())
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'proreus: ')) })
    .exitOverride()
  for (const command of await Promise.all(names.map((name) => commands[name]()))) {
    program.addCommand(command)
    inheritSettings(command, program)
  }
  return program
}

/** Runs one command line, and returns the exit code: 0 for success, 1 for a failure, 2 for an invalid command line or unreadable input. */
export async function main(argv: readonly string[]): Promise<number> {
  try {
    const program = await createProgram(neededCommands(argv))
    await program.parseAsync(withoutAliases(argv), { from: 'user' })
    return 0
  } catch (error) {
    if (error instanceof Exit) return error.exitCode
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    process.stderr.write(`proreus: ${errorText(error)}\n`)
    return 1
  }
}

/**
 * Returns the names of the subcommands that a command line needs. If the first argument is a subcommand, only this subcommand is needed.
 * `--version` needs no subcommand. Any other command line needs all subcommands, e.g. for the help or for the message about an unknown
 * command.
 */
function neededCommands([first = '']: readonly string[]): readonly CommandName[] {
  if (first === '-V' || first === '--version') return []
  return Object.hasOwn(commands, first) ? [first as CommandName] : commandNames
}

/**
 * Copies the settings of `parent` to a command and its subcommands. Commander copies the settings in `command()`, but not in
 * `addCommand()`.
 */
function inheritSettings(command: Command, parent: Command, names: readonly string[] = []): void {
  const path = [...names, command.name()]
  command.copyInheritedSettings(parent).showHelpAfterError(helpHint(...path))
  for (const child of command.commands) inheritSettings(child, command, path)
}

function helpHint(...command: readonly string[]): string {
  return `(${['proreus', ...command].join(' ')} --help lists the commands and options)`
}
