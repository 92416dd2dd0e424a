/**
 * Derives the static types of the objects that a client sends to a subresource, and of the objects in the responses. These types depend on
 * the type of the main object and on the name of the subresource.
 */
import type { InputOf, ObjectOf, ResourceType } from '../api/group-version-kind.ts'
import type { models } from '../api/kubernetes/models.ts'
import type { KubernetesObject, ObjectMeta } from '../api/object.ts'
import type { Status } from '../api/status.ts'
import type { ApplyInput } from './write-types.ts'

/** The response of a `scale` subresource: the number of replicas of an object. */
export type ScaleResult = KubernetesObject & { spec: { replicas?: number }; status: models.V1ScaleStatus }
/** The response of the `token` subresource: a token of a ServiceAccount. `status.token` is a secret. */
export type TokenResult = KubernetesObject & {
  spec: models.V1TokenRequestSpec
  status: { token: string; expirationTimestamp: string }
}

/** An object to write to a subresource. The `metadata` identifies the object to which the subresource belongs. */
type Input<Model> = Omit<Model, 'apiVersion' | 'kind' | 'metadata'> & {
  apiVersion?: string
  kind?: string
  metadata: Partial<ObjectMeta>
}

/** The static types of the subresources whose kind is not the kind of the object. */
export interface SubresourceTypes {
  scale: { result: ScaleResult; input: Input<models.V1Scale> }
  eviction: { result: Status; input: Input<models.V1Eviction> }
  binding: { result: Status; input: Input<models.V1Binding> }
  token: { result: TokenResult; input: Input<models.AuthenticationV1TokenRequest> }
}

/** The subresources that read and write only some fields of the object itself. */
type PartsOfObject = 'status' | 'resize' | 'ephemeralcontainers' | 'approval' | 'finalize'

/**
 * The static type of a response. If the options name a subresource, the response has the type of this subresource. If the options name no
 * subresource, the response has the type of the object.
 */
export type ResultOf<R extends ResourceType, Options> = Options extends { readonly subresource: infer Name }
  ? Name extends keyof SubresourceTypes
    ? SubresourceTypes[Name]['result']
    : Name extends PartsOfObject
      ? ObjectOf<R>
      : KubernetesObject
  : ObjectOf<R>

/** The static type of the input of a server-side apply. If the options name a subresource, the input has the type of this subresource. */
export type AppliedOf<R extends ResourceType, Options> = Options extends { readonly subresource: infer Name }
  ? Name extends keyof SubresourceTypes
    ? Partial<Omit<SubresourceTypes[Name]['input'], 'metadata'>> & Pick<ApplyInput, 'metadata'>
    : Name extends PartsOfObject
      ? ApplyInput<R>
      : Pick<ApplyInput, 'metadata'> & Record<string, unknown>
  : ApplyInput<R>

/** The static type of the input of a create or update. If the options name a subresource, the input has the type of this subresource. */
export type WrittenOf<R extends ResourceType, Options> = Options extends { readonly subresource: infer Name }
  ? Name extends keyof SubresourceTypes
    ? SubresourceTypes[Name]['input']
    : Name extends PartsOfObject
      ? InputOf<R>
      : { metadata: Partial<ObjectMeta> } & Record<string, unknown>
  : InputOf<R>
