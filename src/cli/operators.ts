/**
 * Resolves `--operators` and `--name`. An operator of this package is selected by its name. Any other operator is selected by the path of
 * its file.
 */
import { Option } from 'commander'
import { ProreusError } from '../api/errors.ts'
import type { Operator } from '../manager/operator.ts'
import { shippedOperators } from '../operators/index.ts'
import { loadOperator } from './load-operator.ts'
import { parseList } from './configuration.ts'
import type { Project } from './project.ts'
import { readProject } from './project.ts'

const shippedNames = shippedOperators.map(({ name }) => name).join(', ')

/** The default name of the installation for `--operators all`. */
const shippedInstallation = 'proreus'

export function operatorsOption(): Option {
  const description = `which operators: files that export "operator", names of shipped ones (${shippedNames}), "all" of these, or "none" (default: "proreus.operators" in package.json)`
  return new Option('--operators <list>', description).env('PROREUS_OPERATORS')
}

export function nameOption(): Option {
  const description =
    'name of the installation, from which its webhook configurations, namespace and so on have theirs (default: "proreus.name" in package.json, else the operator\'s name)'
  return new Option('--name <name>', description).env('PROREUS_NAME')
}

/** The flags that select operators. */
export interface OperatorSelection {
  readonly operators?: string | undefined
  readonly name?: string | undefined
}

/** The selected operators, and the name of the installation. The command's options take precedence over package.json. */
export interface Selected {
  readonly operators: readonly Operator[]
  /**
   * The name of the installation: from `--name`, from package.json, or `proreus` for `--operators all`. In all other cases, the name is
   * undefined.
   */
  readonly name: string | undefined
}

/**
 * Loads the operators of a list such as `mypod,./my-operator.ts`. The item `all` selects all operators of this package, and the item `none`
 * selects no operator.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when the list is missing or empty, a name is unknown, or an operator cannot be loaded.
 */
export async function selectOperators(options: OperatorSelection): Promise<Selected> {
  const project = readProject()
  const items = itemsOf(options, project)
  const operators: Operator[] = []
  for (const item of items) operators.push(...(await operatorsNamed(item)))
  const onlyShipped = items.every((item) => item === 'all')
  // `proreus.name` in package.json applies only to the operators that package.json selects.
  const given = options.name ?? (options.operators === undefined ? project.name : undefined)
  return { operators: [...new Set(operators)], name: given ?? (onlyShipped ? shippedInstallation : undefined) }
}

/**
 * Checks the selection without loading the files of operators. Returns true when the selection contains an operator.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when the list of operators is missing or empty, or a name is unknown.
 */
export function selectsOperators(options: OperatorSelection): boolean {
  const items = itemsOf(options, readProject())
  for (const item of items) if (!isFile(item) && item !== 'none' && item !== 'all') shippedOperator(item)
  return items.some((item) => item !== 'none')
}

function itemsOf(options: OperatorSelection, project: Project): readonly string[] {
  const items = parseList(options.operators ?? project.operators ?? refuse())
  return items.length > 0 ? items : refuse()
}

function isFile(item: string): boolean {
  return /[./\\]/.test(item)
}

async function operatorsNamed(item: string): Promise<readonly Operator[]> {
  if (item === 'none') return []
  if (item === 'all') return shippedOperators
  return [isFile(item) ? await loadOperator(item) : shippedOperator(item)]
}

function shippedOperator(item: string): Operator {
  const found = shippedOperators.find(({ name }) => name === item)
  if (found !== undefined) return found
  const advice = 'for your own operator use its file, e.g. ./my-operator.ts'
  throw new ProreusError('PRO_CONFIG_INVALID', `There is no operator "${item}". The shipped ones are: ${shippedNames}; ${advice}.`)
}

function refuse(): never {
  throw new ProreusError(
    'PRO_CONFIG_INVALID',
    `No operators are selected: add --operators with your file, e.g. --operators ./my-operator.ts, or put "proreus": { "operators": "./my-operator.ts" } into package.json; "--operators all" selects those that come with Proreus (${shippedNames}).`,
  )
}
