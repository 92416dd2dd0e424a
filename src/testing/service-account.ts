/** Connections with the identity of a ServiceAccount. The TokenRequest API issues the tokens, as it does for Pods. */
import { serviceAccount } from '../api/builtin.ts'
import type { Clock } from '../runtime/clock.ts'
import { systemClock } from '../runtime/clock.ts'
import { ProreusError } from '../api/errors.ts'
import { isAlreadyExists } from '../client/api-error.ts'
import type { Client } from '../client/client.ts'
import type { Connection } from '../client/connection.ts'
import { CachedCredentials } from '../client/credentials.ts'
import { objectPath } from '../client/resource-path.ts'
import { serviceAccountGroups, serviceAccountName } from '../devcluster/access/authenticate.ts'
import type { ControlPlaneUser, Created } from './users.ts'

/**
 * A ServiceAccount to create when the control plane starts, and the permissions to grant to it. A test can grant further permissions with
 * RBAC objects.
 */
export interface ControlPlaneServiceAccount extends Pick<ControlPlaneUser, 'namespaceRules'> {
  /** The ServiceAccount in the form `namespace/name`. The namespace must be in the option `namespaces`, or already exist. */
  readonly name: string
  /** Permissions in all namespaces, and on cluster-scoped types. Default: none. */
  readonly rules?: ControlPlaneUser['rules']
}

interface ServiceAccountKey {
  readonly namespace: string
  readonly name: string
}

/** Requested lifetime of a token in seconds. The token is renewed after half of this time, long before it expires. */
const tokenLifeSeconds = 3600

/**
 * Returns a user with the username, the groups and the permissions of a ServiceAccount. The username and the groups are those with which
 * the API server authenticates the ServiceAccount, except that the group `system:authenticated` is omitted. The result can be passed to
 * `grant`.
 */
export function userOfServiceAccount({ name, rules = [], ...rest }: ControlPlaneServiceAccount): ControlPlaneUser {
  const { namespace, name: own } = serviceAccountKey(name)
  return { ...rest, name: serviceAccountName(namespace, own), groups: serviceAccountGroups(namespace), rules }
}

/** Creates the ServiceAccounts that do not exist, and adds the type and key of each created ServiceAccount to `created`. */
export async function createServiceAccounts(
  client: Client,
  wanted: readonly ControlPlaneServiceAccount[],
  created: Created[] = [],
): Promise<void> {
  for (const { name } of wanted) {
    const key = serviceAccountKey(name)
    try {
      await client.create(serviceAccount, { metadata: key })
      created.push({ type: serviceAccount, key })
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
    }
  }
}

/**
 * Returns a connection with the identity of the ServiceAccount `namespace/name`. The client `admin` requests a token for the ServiceAccount
 * before the first request on this connection. When half of the lifetime of a token has passed on `clock`, `admin` requests a new token.
 */
export function withToken(admin: Client, connection: Connection, name: string, clock: Clock = systemClock): Connection {
  const key = serviceAccountKey(name)
  const load = async (): Promise<{ authorization: string }> => {
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: tokenLifeSeconds } }
    const answer = await admin.raw(objectPath(serviceAccount, key, 'token'), { method: 'POST', body })
    return { authorization: `Bearer ${(answer as { status: { token: string } }).status.token}` }
  }
  const credentials = new CachedCredentials(load, { clock, maxAgeMs: (tokenLifeSeconds / 2) * 1000 })
  const { tls: _certificate, ...address } = connection
  return {
    ...address,
    describe: describeAs(connection, key),
    authorization: (refused) => credentials.header(refused),
  }
}

function serviceAccountKey(name: string): ServiceAccountKey {
  const [namespace = '', own = '', ...more] = name.split('/')
  if (namespace === '' || own === '' || more.length > 0)
    throw new ProreusError('PRO_INPUT', `${JSON.stringify(name)} is not a ServiceAccount: write namespace/name.`)
  return { namespace, name: own }
}

function describeAs(connection: Connection, { namespace, name }: ServiceAccountKey): string {
  return `${connection.describe}, as the ServiceAccount ${namespace}/${name}`
}
