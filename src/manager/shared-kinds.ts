/** Kinds that several operators of one process define. A cluster has only one CustomResourceDefinition for a kind. */
import { ProreusError } from '../api/errors.ts'
import { groupKindOf } from '../api/group-version-kind.ts'
import { jsonEqual } from '../api/json.ts'
import type { Kind } from '../api/kind.ts'
import type { Operator } from './operator.ts'

/** Returns the kinds of all operators. A kind that several operators define is returned once. */
export function kindsOf(operators: readonly Operator[]): readonly Kind[] {
  return [...new Map(operators.flatMap(({ kinds }) => kinds).map((kind) => [groupKindOf(kind), kind])).values()]
}

/**
 * Rejects operators that define the same kind differently. Without this check, the cluster would have the CRD that is applied last, and no
 * error would be reported.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID`. The message contains the kind and both operators.
 */
export function checkSharedKinds(operators: readonly Operator[]): void {
  const known = new Map<string, { readonly operator: string; readonly kind: Kind }>()
  const problems: string[] = []
  for (const { name: operator, kinds } of operators) {
    for (const kind of kinds) {
      const first = known.get(groupKindOf(kind))
      if (first === undefined) known.set(groupKindOf(kind), { operator, kind })
      else if (first.kind !== kind && !jsonEqual(first.kind, kind))
        problems.push(`"${first.operator}" and "${operator}" define ${groupKindOf(kind)} differently: define it once, and use it in both`)
    }
  }
  if (problems.length > 0) throw new ProreusError('PRO_CONFIG_INVALID', `These operators cannot run together: ${problems.join('; ')}.`)
}
