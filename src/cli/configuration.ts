/**
 * Reads the options of a command from its flags, the environment, the configuration file and the defaults. The first of these sources that
 * sets an option takes precedence.
 */
import { existsSync, readFileSync } from 'node:fs'
import { InvalidArgumentError, type Command, type Option } from 'commander'
import { ProreusError, messageOf } from '../api/errors.ts'
import { isObject } from '../api/json.ts'

export const defaultConfigFile = 'config/proreus.yaml'

/** Maps the flags of other frameworks to the equivalent flags of `proreus`. */
const aliases: ReadonlyMap<string, string> = new Map([
  ['--metrics-addr', '--metrics-bind-address'],
  ['--zap-log-level', '--log-level'],
  ['--webhook-cert-path', '--cert-dir'],
  ['--metrics-cert-path', '--metrics-cert-dir'],
])

/** Replaces each flag in `aliases` by the equivalent flag of `proreus`, in both forms `--f v` and `--f=v`. */
export function withoutAliases(argv: readonly string[]): string[] {
  return argv.map((argument) => {
    const [flag = '', ...value] = argument.split('=')
    return [aliases.get(flag) ?? flag, ...value].join('=')
  })
}

/**
 * Reads the configuration file, and sets the options that neither a flag nor the environment has set. The keys of the file are the names of
 * the flags without leading dashes. If `--config` names a file, the file must exist. The default file may be missing.
 */
export async function applyConfigFile(command: Command): Promise<void> {
  const path = command.getOptionValue('config') as string
  const named = command.getOptionValueSource('config') !== 'default'
  if (!existsSync(path)) {
    if (named) throw new ProreusError('PRO_CONFIG_INVALID', `The configuration file ${path} does not exist.`)
    return
  }
  const options = command.options.filter(({ long }) => long !== '--config')
  for (const [key, value] of Object.entries(await readConfig(path))) {
    const option = options.find(({ long }) => long === `--${key}`)
    if (option === undefined) {
      const known = options.flatMap(({ long }) => (long === undefined ? [] : [long.slice(2)]))
      throw new ProreusError('PRO_CONFIG_INVALID', `${path}: there is no option "${key}". The options are: ${known.join(', ')}.`)
    }
    const source = command.getOptionValueSource(option.attributeName())
    if (source === undefined || source === 'default')
      command.setOptionValueWithSource(option.attributeName(), parsed(option, path, key, value), 'config')
  }
}

async function readConfig(path: string): Promise<Record<string, unknown>> {
  const { parse } = await import('yaml')
  try {
    const content: unknown = parse(readFileSync(path, 'utf8')) ?? {}
    if (isObject(content)) return content
    throw new Error('it is not a mapping of option names to values')
  } catch (cause) {
    // Only the first line of the parser's message is used. It contains the position in the file. The other lines quote the file.
    const problem = messageOf(cause).split('\n', 1)[0]!.replace(/:$/, '')
    throw new ProreusError('PRO_CONFIG_INVALID', `The configuration file ${path} cannot be read: ${problem}.`, { cause })
  }
}

function parsed(option: Option, path: string, key: string, value: unknown): unknown {
  if (option.isBoolean()) {
    if (typeof value === 'boolean') return value
    throw new ProreusError('PRO_CONFIG_INVALID', `${path}: ${key}: true or false is expected, found ${JSON.stringify(value)}.`)
  }
  const text = Array.isArray(value) ? value.join(',') : String(value)
  try {
    return option.parseArg === undefined ? text : option.parseArg(text, undefined as never)
  } catch (cause) {
    throw new ProreusError('PRO_CONFIG_INVALID', `${path}: ${key}: ${messageOf(cause)}`, { cause })
  }
}

/** Parses a port number, from 0 to 65535. */
export function parsePort(text: string): number {
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65535) throw new InvalidArgumentError('a port is a number from 0 (any free one) to 65535.')
  return port
}

/** Checks that the URL of the webhooks uses HTTPS, which the API server requires. */
export function parseWebhookUrl(text: string): string {
  if (!URL.canParse(text) || !text.startsWith('https://')) throw new InvalidArgumentError('write it as https://host:port.')
  return text
}

/** Parses a duration such as `10s`, `500ms` or `2m`, and returns milliseconds. */
export function parseDuration(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text)
  if (match === null) throw new InvalidArgumentError('a duration is a number with ms, s, m or h, e.g. 10s.')
  const unit = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }[match[2] as 'ms' | 's' | 'm' | 'h']
  return Number(match[1]) * unit
}

/** Parses a share: a number from 0 to 1. */
export function parseShare(text: string): number {
  const share = Number(text)
  if (!/^(\d+\.?\d*|\.\d+)$/.test(text) || share > 1) throw new InvalidArgumentError('a share is a number from 0 to 1, e.g. 0.01.')
  return share
}

const byteUnits: Readonly<Record<string, number>> = { '': 1, k: 1e3, M: 1e6, G: 1e9, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30 }

/** Parses an amount of memory in the notation of Kubernetes (`512Mi`, `1G`), and returns bytes. */
export function parseBytes(text: string): number {
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)([kMG]|[KMG]i)?$/.exec(text) ?? []
  if (number === undefined || Number(number) === 0) throw new InvalidArgumentError('an amount of memory is written as 512Mi or 1Gi.')
  return Math.floor(Number(number) * byteUnits[unit]!)
}

/** Parses a boolean, which must be `true` or `false`. */
export function parseBoolean(text: string): boolean {
  if (text !== 'true' && text !== 'false') throw new InvalidArgumentError('true or false.')
  return text === 'true'
}

/** Parses a list such as `a,b`. Returns an empty list for an empty string. */
export function parseList(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}
