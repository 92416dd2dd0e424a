/** Derives the static types of the objects that the subresources of a type read and write. */
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

/** An object of a subresource to write. Its metadata is that of the object to which the subresource belongs. */
type Input<Model> = Omit<Model, 'apiVersion' | 'kind' | 'metadata'> & {
  apiVersion?: string
  kind?: string
  metadata: Partial<ObjectMeta>
}

/** The static types of subresources whose kind differs from the kind of their object. */
export interface SubresourceTypes {
  scale: { result: ScaleResult; input: Input<models.V1Scale> }
  eviction: { result: Status; input: Input<models.V1Eviction> }
  binding: { result: Status; input: Input<models.V1Binding> }
  token: { result: TokenResult; input: Input<models.AuthenticationV1TokenRequest> }
}

/** The subresources that read and write the object itself, but only some of its fields. */
type PartsOfObject = 'status' | 'resize' | 'ephemeralcontainers' | 'approval' | 'finalize'

/** The static type of a response: the object, or the object of the subresource that the options name. */
export type ResultOf<R extends ResourceType, Options> = Options extends { readonly subresource: infer Name }
  ? Name extends keyof SubresourceTypes
    ? SubresourceTypes[Name]['result']
    : Name extends PartsOfObject
      ? ObjectOf<R>
      : KubernetesObject
  : ObjectOf<R>

/** The static type of an object for server-side apply: of the type, or of the subresource that the options name. */
export type AppliedOf<R extends ResourceType, Options> = Options extends { readonly subresource: infer Name }
  ? Name extends keyof SubresourceTypes
    ? Partial<Omit<SubresourceTypes[Name]['input'], 'metadata'>> & Pick<ApplyInput, 'metadata'>
    : Name extends PartsOfObject
      ? ApplyInput<R>
      : Pick<ApplyInput, 'metadata'> & Record<string, unknown>
  : ApplyInput<R>

/** The static type of an object to create or replace: of the type, or of the subresource that the options name. */
export type WrittenOf<R extends ResourceType, Options> = Options extends { readonly subresource: infer Name }
  ? Name extends keyof SubresourceTypes
    ? SubresourceTypes[Name]['input']
    : Name extends PartsOfObject
      ? InputOf<R>
      : { metadata: Partial<ObjectMeta> } & Record<string, unknown>
  : InputOf<R>
