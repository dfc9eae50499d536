/** Runs into null references, which OpenJDK notices by SIGSEGV. */
final class Nulls {
    int value = 1;

    static int load(Nulls nulls) {
        return nulls.value;
    }

    public static void main(String[] arguments) {
        int sum = 0;
        Nulls there = new Nulls();
        for (int i = 0; i < 200_000; i++) {
            sum += load(there);
        }
        int caught = 0;
        for (int i = 0; i < 100; i++) {
            try {
                sum += load(null);
            } catch (NullPointerException exception) {
                caught++;
            }
        }
        System.out.println(caught + " " + (sum > 0));
    }
}
