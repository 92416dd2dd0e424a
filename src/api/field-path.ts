/** Field paths as the API server writes them. */
import type { FieldError } from './field-error.ts'
import { invalid } from './field-error.ts'

/** Path of an error without a field, as Go formats a nil `field.Path`. */
export const noField = '<nil>'

/** Returns the path of a field, e.g. `spec.name`, or only `spec` for a field of the root. */
export function childPath(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`
}

/** Like `childPath`, for errors of lists and embedded resources, which write an empty field name as an empty index. */
export function fieldChildPath(path: string, key: string): string {
  return key === '' ? `${path}[]` : childPath(path, key)
}

export function indexPath(path: string, index: number): string {
  return `${path}[${index}]`
}

/** Returns the path of a map's value, as in errors of lists and embedded resources. */
export function keyPath(path: string, key: string): string {
  return `${path}[${key}]`
}

/** Returns the path for a field error; the root is written `<nil>`. */
export function fieldOf(path: string): string {
  return path === '' ? noField : path
}

/** Returns an error without a field. Its message names the place. */
export function childless(text: string): FieldError {
  return invalid(noField, '', text)
}
