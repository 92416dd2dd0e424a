/**
 * Reads the settings of a project that apply to all commands: `"proreus": { "operators": "./my-operator.ts" }` in the package.json of the
 * current folder.
 */
import { readFileSync } from 'node:fs'
import { ProreusError, messageOf } from '../api/errors.ts'
import { isObject } from '../api/json.ts'

export interface Project {
  /** The default of `--operators`. A list in package.json is joined with commas. */
  readonly operators?: string
  /** The default of `--name`. */
  readonly name?: string
}

/**
 * Reads the project's settings. The result is empty when package.json or its field `proreus` is missing.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when package.json is not valid JSON, or the settings are malformed.
 */
export function readProject(path = 'package.json'): Project {
  const settings = fieldOf(path)
  if (settings === undefined) return {}
  if (!isObject(settings))
    throw invalid(path, `"proreus" must be an object such as { "operators": "./my-operator.ts" }, found ${found(settings)}`)
  const { operators, name, ...others } = settings
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw invalid(path, `"proreus" has no field "${unknown}": it may have "operators" and "name"`)
  if (name !== undefined && typeof name !== 'string') throw invalid(path, `"proreus.name" must be a string, found ${found(name)}`)
  const list = typeof operators === 'string' || operators === undefined ? operators : textsOf(operators)?.join(',')
  if (operators !== undefined && list === undefined)
    throw invalid(path, `"proreus.operators" must be a string or a list of strings, found ${found(operators)}`)
  return { ...(list !== undefined && { operators: list }), ...(name !== undefined && { name }) }
}

function fieldOf(path: string): unknown {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    // The file package.json is optional. An unreadable package.json is treated like a missing package.json.
    return undefined
  }
  try {
    const content: unknown = JSON.parse(text)
    return isObject(content) ? content.proreus : undefined
  } catch (cause) {
    throw new ProreusError('PRO_CONFIG_INVALID', `${path} is not valid JSON: ${messageOf(cause).replace(/\.$/, '')}.`, { cause })
  }
}

function textsOf(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : undefined
}

function invalid(path: string, problem: string): ProreusError {
  return new ProreusError('PRO_CONFIG_INVALID', `${path}: ${problem}.`)
}

function found(value: unknown): string {
  return JSON.stringify(value)
}
