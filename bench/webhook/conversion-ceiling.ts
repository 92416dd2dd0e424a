/**
 * A conversion webhook that does as little as possible. The benchmark measures it to estimate how fast a webhook on Node.js can be. The
 * webhook only parses the review, and serializes the objects with the desired apiVersion. The command is `node conversion-ceiling.ts PORT
 * CERT KEY`.
 */
import { serveBare } from './bare-fastify.ts'

interface Review {
  readonly request: { readonly uid: string; readonly desiredAPIVersion: string; readonly objects: readonly object[] }
}

await serveBare<Review>(64 * 1024 * 1024, ({ request: { uid, desiredAPIVersion, objects } }) => {
  const convertedObjects = objects.map((object) => ({ ...object, apiVersion: desiredAPIVersion }))
  const response = { uid, convertedObjects, result: { status: 'Success' } }
  return JSON.stringify({ kind: 'ConversionReview', apiVersion: 'apiextensions.k8s.io/v1', response })
})
