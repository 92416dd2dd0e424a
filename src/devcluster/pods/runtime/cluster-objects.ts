/** `ClusterObjects`: reads the API objects to which the containers and volumes of Pods refer. */
import { configMap, secret, service, serviceAccount } from '../../../api/builtin.ts'
import { core } from '../../../api/kubernetes/core.ts'
import { isNotFound } from '../../../client/api-error.ts'
import type { Client } from '../../../client/client.ts'
import type { ReadonlyService } from '../../controllers/api-types.ts'
import type { EnvironmentSources, ReadonlyConfigMap, ReadonlySecret } from '../environment/sources.ts'
import type { ClaimSource, ReadonlyClaim } from '../volumes/claims.ts'
import type { IssuedToken, TokenRequest } from '../volumes/service-account-tokens.ts'

export class ClusterObjects implements EnvironmentSources, ClaimSource {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  configMap(namespace: string, name: string): Promise<ReadonlyConfigMap | undefined> {
    return found(this.#client.get(configMap, { namespace, name }))
  }

  secret(namespace: string, name: string): Promise<ReadonlySecret | undefined> {
    return found(this.#client.get(secret, { namespace, name }))
  }

  claim(namespace: string, name: string): Promise<ReadonlyClaim | undefined> {
    return found(this.#client.get(core.persistentVolumeClaim, { namespace, name }))
  }

  async services(namespace: string): Promise<readonly ReadonlyService[]> {
    return (await this.#client.list(service, { namespace })).items
  }

  /** Creates a token of a ServiceAccount. The token is bound to a Pod. */
  async createToken({ namespace, serviceAccount: name, audiences, expirationSeconds, pod }: TokenRequest): Promise<IssuedToken> {
    const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name: pod.name, uid: pod.uid }
    const spec = { audiences: [...audiences], expirationSeconds, boundObjectRef }
    const created = await this.#client.create(serviceAccount, { metadata: { namespace, name }, spec }, { subresource: 'token' })
    const { token, expirationTimestamp } = created.status
    return { token, expirationSeconds: created.spec.expirationSeconds ?? expirationSeconds, expiresAt: Date.parse(expirationTimestamp) }
  }
}

/** Returns a promise with the result or error of `reading`. If the object does not exist, the promise resolves with undefined. */
async function found<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}
