/** Loads an operator from a file, and explains why a file cannot be loaded. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, extname, join, relative, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { ProreusError, messageOf } from '../api/errors.ts'
import type { Operator } from '../manager/operator.ts'
import { isOperator } from '../manager/operator.ts'
import { LoadError } from './load-error.ts'

/** The URL of the folder of Proreus' own source files. Frames in this folder are removed from stack traces. */
const ownFiles = new URL('../', import.meta.url).href

/**
 * Imports `file` and returns its export `operator`.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when the file does not exist or exports no operator.
 * @throws {LoadError} when the import of the file fails. A `LoadError` is a `ProreusError` with the code `PRO_CONFIG_INVALID`.
 */
export async function loadOperator(file: string): Promise<Operator> {
  const path = resolve(file)
  if (!existsSync(path)) {
    throw new ProreusError('PRO_CONFIG_INVALID', `The operator file ${file} does not exist: use a file that exports "operator".`)
  }
  let loaded: { operator?: unknown }
  try {
    loaded = (await import(pathToFileURL(path).href)) as { operator?: unknown }
  } catch (cause) {
    throw loadError(file, path, cause)
  }
  if (!isOperator(loaded.operator)) {
    throw new ProreusError('PRO_CONFIG_INVALID', `${file} exports no "operator" made with defineOperator.`)
  }
  return loaded.operator
}

function loadError(file: string, path: string, cause: unknown): LoadError {
  const stack = cause instanceof Error ? (cause.stack ?? '') : ''
  const frames = framesOf(stack)
  const place = syntaxErrorAt(stack) ?? /\(?([^()\s]+:\d+:\d+)\)?$/.exec(frames[0] ?? '')?.[1]
  const problem = messageOf(cause).replace(/\.$/, '')
  const where = place === undefined ? '' : ` (${place})`
  return new LoadError(`The operator ${file} cannot be loaded: ${problem}${where}${commonJsAdvice(path, cause)}.`, frames, cause)
}

/** Returns the lines of a stack trace that refer to the user's files. The paths in these lines are relative to the current folder. */
function framesOf(stack: string): readonly string[] {
  const lines = stack.split('\n').filter((line) => /^ +at .*(file:\/\/|[( ]\/).*:\d+:\d+\)?$/.test(line))
  const own = lines.filter((line) => !line.includes(ownFiles) && !line.includes('/node_modules/') && !/[( ]node:/.test(line))
  return own.map((line) => line.trim().replace(/(file:\/\/)?\/[^\s)]+/, shortened))
}

/**
 * Returns the position of a syntax error; undefined for another error. The stack of a syntax error begins with a line `file:line`. The code
 * follows, and then a line with `^` below the column. The line with `^` may be missing.
 */
function syntaxErrorAt(stack: string): string | undefined {
  const match = /^(file:\/\/\S+|\/\S+):(\d+)\n(?:.+\n)*?(?:( *)\^+\n|\n)/.exec(stack)
  if (match === null) return undefined
  const [, file, line, indent] = match
  return `${shortened(file!)}:${line}${indent === undefined ? '' : `:${indent.length + 1}`}`
}

/** Converts a path or file URL, which may end with a line and column, to a path relative to the current folder. */
export function shortened(text: string): string {
  const [, file = text, position = ''] = /^(.*?)((?::\d+)*)$/.exec(text) ?? []
  const path = relative(process.cwd(), file.startsWith('file:') ? fileURLToPath(file) : file)
  return `${path.startsWith('..') ? path : `./${path}`}${position}`
}

/**
 * Returns advice if the file has ECMAScript module syntax, but its package.json contains `"type": "commonjs"`. Node.js then loads the file
 * as CommonJS, and fails with the error `cause`. `npm init` writes this type to package.json. In all other cases, the result is an empty
 * string.
 */
function commonJsAdvice(path: string, cause: unknown): string {
  if (!(cause instanceof SyntaxError) || !/import statement outside a module|Unexpected token 'export'/.test(cause.message)) return ''
  const packageJson = packageJsonOf(dirname(path))
  if (packageJson === undefined) return ''
  const extension = extname(path)
  return `: ${shortened(packageJson)} has "type": "commonjs". Write "type": "module" there (npm pkg set type=module), or end the name of the file with .m${extension.slice(1)}`
}

/** Returns the path of the nearest package.json if this file contains `"type": "commonjs"`; otherwise undefined. */
function packageJsonOf(folder: string): string | undefined {
  const path = join(folder, 'package.json')
  if (existsSync(path)) return /"type"\s*:\s*"commonjs"/.test(readFileSync(path, 'utf8')) ? path : undefined
  return dirname(folder) === folder ? undefined : packageJsonOf(dirname(folder))
}
