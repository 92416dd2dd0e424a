/** Creates the logger of a command from its flags. By default, the logger writes text to a terminal, and JSON to anything else. */
import { Option, type Command } from 'commander'
import { createLogger, type Logger } from '../telemetry/logger.ts'

export interface LogOptions {
  logLevel: string
  logFormat: 'auto' | 'json' | 'pretty'
}

export function addLogOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--log-level <level>', 'lowest level that is logged')
        .choices(['trace', 'debug', 'info', 'warn', 'error', 'silent'])
        .default('info')
        .env('LOG_LEVEL'),
    )
    .addOption(
      new Option('--log-format <format>', 'format of log lines; auto: text on a terminal, JSON otherwise')
        .choices(['auto', 'json', 'pretty'])
        .default('auto')
        .env('LOG_FORMAT'),
    )
}

export function loggerOf({ logLevel, logFormat }: LogOptions, muted?: () => boolean): Logger {
  const terminal = process.stderr.isTTY === true
  return createLogger({
    level: logLevel,
    pretty: logFormat === 'pretty' || (logFormat === 'auto' && terminal),
    colorize: terminal && process.stderr.hasColors(),
    ...(muted && { muted }),
  })
}
