/** Which names a definition may use: those that no other established definition of its group has taken before. */
import type { Definition, DefinitionNames } from './definition.ts'

export interface NameConflict {
  /** `PluralConflict`, `KindConflict`, …: the reason of the condition. */
  readonly reason: string
  readonly message: string
}

/** The first conflict of a definition's names with those that others of the same group use. */
export function findNameConflict(definition: Definition, others: readonly Definition[]): NameConflict | undefined {
  const { names, group } = definition.spec
  const taken = others
    .filter(({ spec, metadata }) => spec.group === group && metadata.name !== definition.metadata.name)
    .flatMap(({ status }) => (status?.acceptedNames === undefined ? [] : [status.acceptedNames]))
  const resources = new Set(taken.flatMap(resourceNames))
  const kinds = new Set(taken.flatMap(({ kind, listKind }) => [kind, ...(listKind === undefined ? [] : [listKind])]))
  const inUse = (value: string): string => `${JSON.stringify(value)} is already in use`
  if (resources.has(names.plural)) return { reason: 'PluralConflict', message: inUse(names.plural) }
  if (names.singular !== undefined && resources.has(names.singular)) return { reason: 'SingularConflict', message: inUse(names.singular) }
  const shortName = names.shortNames?.find((name) => resources.has(name))
  if (shortName !== undefined) return { reason: 'ShortNamesConflict', message: inUse(shortName) }
  if (kinds.has(names.kind)) return { reason: 'KindConflict', message: inUse(names.kind) }
  if (names.listKind !== undefined && kinds.has(names.listKind)) return { reason: 'ListKindConflict', message: inUse(names.listKind) }
  return undefined
}

function resourceNames({ plural, singular, shortNames }: DefinitionNames): string[] {
  return [plural, ...(singular === undefined ? [] : [singular]), ...(shortNames ?? [])].filter((name) => name !== '')
}
