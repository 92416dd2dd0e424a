/** Changes the permissions of a user of a control plane while a test runs. */
import { rbac } from '../../../src/api/kubernetes/rbac.ts'
import type { PolicyRule } from '../../../src/api/policy-rule.ts'
import { createClient } from '../../../src/client/client.ts'
import type { ControlPlane } from '../../../src/testing/control-plane-types.ts'
import type { ControlPlaneUser } from '../../../src/testing/users.ts'
import { until } from '../../../src/testing/until.ts'

/** Removes these verbs from the rules that contain `resource`. Returns all rules. */
export function withoutVerbs(rules: readonly PolicyRule[], resource: string, verbs: readonly string[]): readonly PolicyRule[] {
  return rules.map((rule) => {
    if (rule.resources?.includes(resource) !== true) return rule
    return { ...rule, verbs: rule.verbs.filter((verb) => !verbs.includes(verb)) }
  })
}

/**
 * Replaces the rules of the ClusterRole to which the user is bound.
 *
 * @param isInForce sends a request as this user, and returns true if the response shows that the new rules are in force
 */
export async function setRules(
  controlPlane: ControlPlane,
  { name }: ControlPlaneUser,
  rules: readonly PolicyRule[],
  isInForce: (client: ReturnType<typeof createClient>) => Promise<boolean>,
): Promise<void> {
  const { items } = await controlPlane.client.list(rbac.clusterRoleBinding)
  const binding = items.find(({ subjects = [] }) => subjects.some((subject) => subject.kind === 'User' && subject.name === name))
  await controlPlane.client.patch(rbac.clusterRole, { name: binding!.roleRef.name }, { rules })
  const asUser = createClient(controlPlane.connectionFor(name))
  try {
    await until(`the rules of ${name} are in force`, () => isInForce(asUser))
  } finally {
    await asUser.close()
  }
}
