/** Converts custom resources between the versions of their CRD by calling the CRD's conversion webhook. */
import type { JsonObject } from '../../api/json.ts'
import type { WebhookCaller } from '../admission/caller.ts'
import type { HookClientConfig } from '../admission/hook.ts'
import { CallError } from '../admission/review.ts'
import { describeKind } from '../admission/check-response-type.ts'
import { bareError } from '../apimachinery/status-error.ts'
import type { Converter } from '../rest/converter.ts'
import { ConversionError, conversionRequest, readConversion } from './conversion-review.ts'

/** The part of a CustomResourceDefinition that declares how its custom resources are converted. */
interface ConvertedDefinition {
  readonly spec: { readonly conversion?: { readonly strategy: string; readonly webhook?: JsonObject } }
}

/** Timeout of a conversion webhook call in seconds, as in kube-apiserver. */
const timeoutSeconds = 30

export interface WebhookConverterOptions {
  readonly caller: WebhookCaller
  /** Returns a random number in [0, 1). The uids of ConversionReviews are generated from such numbers. */
  readonly random: () => number
}

/** Returns the converter of a CRD; undefined for the conversion strategy `None`. Running webhook calls end when the signal is aborted. */
export function webhookConverter(
  { spec }: ConvertedDefinition,
  { caller, random }: WebhookConverterOptions,
  signal: AbortSignal,
): Converter | undefined {
  if (spec.conversion?.strategy !== 'Webhook') return undefined
  const { clientConfig = {}, conversionReviewVersions = [] } = (spec.conversion.webhook ?? {}) as {
    clientConfig?: HookClientConfig
    conversionReviewVersions?: readonly string[]
  }
  return {
    async convert(object, apiVersion) {
      if (object.apiVersion === apiVersion) return object
      try {
        const request = conversionRequest(object, apiVersion, conversionReviewVersions, random)
        const answer = await caller.call(clientConfig, request.body, { timeoutSeconds, signal })
        return readConversion(answer, request, object, apiVersion)
      } catch (error) {
        if (error instanceof ConversionError) throw bareError(error.message)
        if (!(error instanceof CallError)) throw error
        throw bareError(`conversion webhook for ${describeKind(object)} failed: ${error.detail}`)
      }
    },
  }
}
