/** Connections with the identity of a ServiceAccount, whose tokens are like those of its Pods. */
import { serviceAccount } from '../api/builtin.ts'
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
 * A ServiceAccount to create at the start, with permissions to grant to it. RBAC objects that the test creates can grant it further ones.
 */
export interface ControlPlaneServiceAccount extends Pick<ControlPlaneUser, 'namespaceRules'> {
  /** `namespace/name`. The namespace must be one of the option `namespaces`, or exist already. */
  readonly name: string
  /** Permissions in all namespaces, and on cluster-scoped types. Default: none. */
  readonly rules?: ControlPlaneUser['rules']
}

interface ServiceAccountKey {
  readonly namespace: string
  readonly name: string
}

/**
 * Requested lifetime in seconds. The token is renewed after half of it, because this machine's clock may be behind that of the API server.
 */
const tokenLifeSeconds = 3600

/** Returns the user of a ServiceAccount, for audit logs and RBAC subjects. */
export function userOfServiceAccount({ name, rules = [], ...rest }: ControlPlaneServiceAccount): ControlPlaneUser {
  const { namespace, name: own } = serviceAccountKey(name)
  return { ...rest, name: serviceAccountName(namespace, own), groups: serviceAccountGroups(namespace), rules }
}

/** Creates the ServiceAccounts that do not exist yet, and adds each to `created`. */
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
 * Returns a connection with the identity of the ServiceAccount `namespace/name`. The client `admin` requests the ServiceAccount's token
 * before the first request, and again after half of the token's lifetime.
 */
export function withToken(admin: Client, connection: Connection, name: string): Connection {
  const key = serviceAccountKey(name)
  const load = async (): Promise<{ authorization: string }> => {
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: tokenLifeSeconds } }
    const answer = await admin.raw(objectPath(serviceAccount, key, 'token'), { method: 'POST', body })
    return { authorization: `Bearer ${(answer as { status: { token: string } }).status.token}` }
  }
  const credentials = new CachedCredentials(load, { clock: systemClock, maxAgeMs: (tokenLifeSeconds / 2) * 1000 })
  const { tls: _certificate, ...address } = connection
  return {
    ...address,
    describe: describeAs(connection, key),
    authorization: async (refused) => (await credentials.get(refused)).authorization,
  }
}

function serviceAccountKey(name: string): ServiceAccountKey {
  const [namespace = '', own = '', ...more] = name.split('/')
  if (namespace === '' || own === '' || more.length > 0)
    throw new ProreusError('PRO_INPUT', `${JSON.stringify(name)} is no ServiceAccount: write namespace/name.`)
  return { namespace, name: own }
}

function describeAs(connection: Connection, { namespace, name }: ServiceAccountKey): string {
  return `${connection.describe}, as the ServiceAccount ${namespace}/${name}`
}
