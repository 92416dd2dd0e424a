/**
 * Resolves `--operators` and `--name`. An operator of this package is selected by its name. Any other operator is selected by the path of
 * its file.
 */
import { Option } from 'commander'
import { ProreusError } from '../api/errors.ts'
import type { Operator } from '../manager/operator.ts'
import { shippedNames, shippedOperator } from '../operators/index.ts'
import { loadOperator } from './load-operator.ts'
import { parseList } from './configuration.ts'
import type { Project } from './project.ts'
import { readProject } from './project.ts'

const shippedList = shippedNames.join(', ')

/** The default name of the installation for `--operators all`. */
const shippedInstallation = 'proreus'

export function operatorsOption(): Option {
  const description = `which operators: files that export "operator", names of shipped ones (${shippedList}), "all" of these, or "none" (default: "proreus.operators" in package.json)`
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
   * The name of the installation. The first condition that is met determines the name:
   *
   * - If `--name` is given: the value of `--name`.
   * - If the list of operators comes from package.json, and package.json contains `proreus.name`: the value of `proreus.name`.
   * - If the list of operators is `all`: `proreus`.
   * - In all other cases: undefined.
   */
  readonly name: string | undefined
}

/**
 * Loads the operators of a list such as `mypod,./my-operator.ts`. The item `all` selects all operators of this package, and the item `none`
 * selects no operator.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when the list is missing or empty, a name is unknown, an operator cannot be loaded, or an
 * environment variable of a shipped operator is invalid.
 */
export async function selectOperators(options: OperatorSelection): Promise<Selected> {
  const project = readProject()
  const items = itemsOf(options, project)
  const operators = new Map<string, Operator>()
  for (const item of items.flatMap(namesOf))
    if (!operators.has(item)) operators.set(item, isFile(item) ? await loadOperator(item) : shippedOperator(item, process.env))
  const onlyShipped = items.every((item) => item === 'all')
  // `proreus.name` in package.json applies only to the operators that package.json selects.
  const given = options.name ?? (options.operators === undefined ? project.name : undefined)
  return { operators: [...new Set(operators.values())], name: given ?? (onlyShipped ? shippedInstallation : undefined) }
}

/**
 * Checks the selection without loading the files of operators. Returns false for `--operators none`, which selects no operator.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when the list of operators is missing or empty, or a name is unknown.
 */
export function selectsOperators(options: OperatorSelection): boolean {
  const items = itemsOf(options, readProject())
  return items.flatMap(namesOf).length > 0
}

function itemsOf(options: OperatorSelection, project: Project): readonly string[] {
  const items = parseList(options.operators ?? project.operators ?? refuse())
  return items.length > 0 ? items : refuse()
}

function isFile(item: string): boolean {
  return /[./\\]/.test(item)
}

/**
 * Returns the operators that an item of the list selects. The name of a shipped operator and the path of a file select one operator. `all`
 * selects every shipped operator, and `none` selects no operator.
 */
function namesOf(item: string): readonly string[] {
  if (item === 'none') return []
  if (item === 'all') return shippedNames
  if (isFile(item) || shippedNames.includes(item)) return [item]
  const advice = 'for your own operator use its file, e.g. ./my-operator.ts'
  throw new ProreusError('PRO_CONFIG_INVALID', `There is no operator "${item}". The shipped ones are: ${shippedList}; ${advice}.`)
}

function refuse(): never {
  throw new ProreusError(
    'PRO_CONFIG_INVALID',
    `No operators are selected: add --operators with your file, e.g. --operators ./my-operator.ts, or put "proreus": { "operators": "./my-operator.ts" } into package.json; "--operators all" selects those that come with Proreus (${shippedList}).`,
  )
}
