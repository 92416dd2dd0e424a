/** The operators that a command runs: the shipped ones by name, others by file. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ProreusError, messageOf } from '../api/errors.ts'
import type { Operator } from '../manager/operator.ts'
import { isOperator } from '../manager/operator.ts'
import { shippedOperators } from '../operators/index.ts'

/** Help text for `--operators`. */
export const operatorsHelp = `which operators: names (${shippedOperators.map(({ name }) => name).join(', ')}), files that export "operator", "all" or "none"`

/** Resolves `mypod,./my-operator.ts`; `all` is every shipped one. */
export async function selectOperators(text: string): Promise<Operator[]> {
  const selected: Operator[] = []
  for (const item of text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')) {
    if (item === 'none') continue
    if (item === 'all') selected.push(...shippedOperators)
    else if (/[./\\]/.test(item)) selected.push(await loadOperator(item))
    else selected.push(shippedOperator(item))
  }
  return [...new Set(selected)]
}

function shippedOperator(name: string): Operator {
  const found = shippedOperators.find((operator) => operator.name === name)
  if (found !== undefined) return found
  const names = shippedOperators.map((operator) => operator.name).join(', ')
  throw new ProreusError(
    'PRO_CONFIG_INVALID',
    `There is no operator "${name}". The shipped ones are: ${names}; for one of your own give its file, e.g. ./my-operator.ts.`,
  )
}

async function loadOperator(file: string): Promise<Operator> {
  const path = resolve(file)
  if (!existsSync(path)) {
    throw new ProreusError('PRO_CONFIG_INVALID', `The operator ${file} does not exist: give a file that exports "operator".`)
  }
  let loaded: { operator?: unknown }
  try {
    loaded = (await import(pathToFileURL(path).href)) as { operator?: unknown }
  } catch (cause) {
    throw new ProreusError('PRO_CONFIG_INVALID', `The operator ${file} cannot be loaded: ${messageOf(cause).replace(/\.$/, '')}.`, {
      cause,
    })
  }
  if (!isOperator(loaded.operator)) {
    throw new ProreusError('PRO_CONFIG_INVALID', `${file} exports no "operator" made with defineOperator.`)
  }
  return loaded.operator
}
