/** fast-check with the seed of `seed.ts`. The seed is derived from the commit, so every machine can repeat a run. */
import fc from 'fast-check'
import { seed } from './seed.ts'

fc.configureGlobal({ seed })

export { fc }
