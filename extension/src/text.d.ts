/** Text files that the bundler takes into a bundle. */
declare module "*.txt" {
  const text: string;
  export default text;
}
