/**
 * Decides which requested names of a CRD are accepted. A name is accepted if no other CRD of the same group uses the name
 * (k8s.io/apiextensions-apiserver/pkg/controller/status: NamingConditionController).
 */
import { jsonEqual } from '../../api/json.ts'
import type { JsonValue } from '../../api/json.ts'
import type { Definition, DefinitionNames } from './definition.ts'

export interface NameConflict {
  /** The reason of the condition NamesAccepted, such as `PluralConflict` or `KindConflict`. */
  readonly reason: string
  readonly message: string
}

export interface AcceptedNames {
  /** The names under which the CRD is served. If another CRD uses a requested name, the CRD keeps the name that was accepted before. */
  readonly names: DefinitionNames
  /** The conflict that the condition NamesAccepted reports. If several names conflict, this is the last conflict found. */
  readonly conflict: NameConflict | undefined
}

/**
 * Returns the names under which the CRD `definition` is served. Each field of the names, such as `plural`, is decided separately:
 *
 * - If another CRD of the same group already uses a name that `definition` requests in the field, the field keeps its previously accepted
 *   value, and the result contains a conflict.
 * - Otherwise, the field gets the requested value.
 *
 * Categories never conflict.
 */
export function acceptNames(definition: Definition, others: readonly Definition[]): AcceptedNames {
  const wanted = definition.spec.names
  const before: DefinitionNames = definition.status?.acceptedNames ?? { kind: '', plural: '' }
  const taken = others
    .filter(({ spec, metadata }) => spec.group === definition.spec.group && metadata.name !== definition.metadata.name)
    .flatMap(({ status }) => (status?.acceptedNames === undefined ? [] : [status.acceptedNames]))
  const resources = new Set(taken.flatMap(({ plural, singular, shortNames = [] }) => [plural, singular, ...shortNames]))
  const kinds = new Set(taken.flatMap(({ kind, listKind }) => [kind, listKind]))

  let names = { ...before }
  let conflict: NameConflict | undefined
  const accept = (field: keyof DefinitionNames, reason: string, used: ReadonlySet<string | undefined>): void => {
    const value = wanted[field]
    const own = [before[field] ?? []].flat()
    const inUse = [value ?? []].flat().filter((name) => !own.includes(name) && used.has(name))
    if (inUse.length > 0) {
      const texts = inUse.map((name) => `${JSON.stringify(name)} is already in use`)
      conflict = { reason, message: texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]` }
    } else if (value === undefined) {
      const { [field]: _gone, ...rest } = names
      names = rest as DefinitionNames
    } else if (!jsonEqual(names[field] as JsonValue, value as JsonValue)) {
      names = { ...names, [field]: value }
    }
  }
  accept('plural', 'PluralConflict', resources)
  accept('singular', 'SingularConflict', resources)
  accept('shortNames', 'ShortNamesConflict', resources)
  accept('kind', 'KindConflict', kinds)
  accept('listKind', 'ListKindConflict', kinds)
  accept('categories', '', new Set())
  return { names, conflict }
}
