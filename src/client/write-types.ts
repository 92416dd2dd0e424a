/** Derives the static types of patches and of server-side apply objects from the static type of an object. */
import type { InputOf, ObjectOf, ResourceType } from '../api/group-version-kind.ts'
import type { DeepReadonly } from '../api/json.ts'
import type { KubernetesObject, ObjectMeta } from '../api/object.ts'
import type { models } from '../api/kubernetes/models.ts'

/** An object to write. It may also be a frozen object from the cache. */
export type Writable<T> = T | DeepReadonly<T>

type DeepPartial<T> = T extends readonly unknown[] ? T : T extends object ? { [Key in keyof T]?: DeepPartial<T[Key]> } : T

/** An object for server-side apply: its name, and the fields that the field manager applies. */
export type ApplyInput<R extends ResourceType = ResourceType> = DeepPartial<Omit<InputOf<R>, 'metadata' | 'apiVersion' | 'kind'>> & {
  apiVersion?: string
  kind?: string
  metadata: Partial<ObjectMeta> & { name: string }
}

/**
 * A JSON merge patch (RFC 7386). It contains the fields to change. A list is replaced as a whole. A field whose value is `null` is removed,
 * and a field whose value is `undefined` is not changed.
 */
export type MergePatch<T> = T extends readonly unknown[]
  ? DeepReadonly<T>
  : T extends object
    ? { readonly [Key in keyof T]?: MergePatch<T[Key]> | null | undefined }
    : T

/** One operation of a JSON patch (RFC 6902). */
export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly path: string; readonly from: string }

/**
 * True when the static type of the objects is only `KubernetesObject`. This type has no fields such as `spec` and `status`, so the types of
 * such fields are unknown.
 */
type IsUntyped<R extends ResourceType> = KubernetesObject extends ObjectOf<R> ? true : false

/** The static type of the patch that `client.patch` accepts. It depends on `type` and `subresource` of the options. */
export type PatchOf<R extends ResourceType, Options> = Options extends { readonly type: 'json' }
  ? readonly JsonPatchOperation[]
  : Options extends { readonly type: 'strategic' }
    ? object
    : Options extends { readonly subresource: infer Subresource }
      ? Subresource extends 'scale'
        ? MergePatch<models.V1Scale>
        : Subresource extends 'status'
          ? ObjectPatch<R>
          : object
      : ObjectPatch<R>

type ObjectPatch<R extends ResourceType> = IsUntyped<R> extends true ? object : MergePatch<InputOf<R>>

/** The static type of the status that `client.patchStatus` accepts; `never` for a type without a status. */
export type StatusPatch<R extends ResourceType> =
  IsUntyped<R> extends true ? object : InputOf<R> extends { status?: unknown } ? MergePatch<NonNullable<InputOf<R>['status']>> : never
