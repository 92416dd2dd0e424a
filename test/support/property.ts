/** fast-check with the seed of `seed.ts`, which is derived from the commit. Every machine can therefore repeat a run. */
import fc from 'fast-check'
import { seed } from './seed.ts'

fc.configureGlobal({ seed })

export { fc }
